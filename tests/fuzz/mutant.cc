#include "tests/fuzz/mutant.h"

#include <algorithm>
#include <vector>

namespace weir::fuzz {
namespace {

struct Edge {
  OpId before;
  OpId after;
  bool carried = false;
};

// The parts of a plan, to change and put together again.
struct Parts {
  explicit Parts(const Plan& plan)
      : strategy(plan.strategy()),
        machines(plan.machines()),
        messages(plan.messages().size()),
        all_reduces(plan.all_reduces().size()),
        buffers(plan.buffers().begin(), plan.buffers().end()),
        ops(plan.ops().begin(), plan.ops().end()) {
    for (const Op& op : plan.ops()) {
      for (const Successor successor : plan.successors(op.id)) {
        edges.push_back({op.id, successor.id(), successor.carried != 0});
      }
    }
  }

  Plan joined() const {
    PlanBuilder builder(strategy, machines);
    for (const Buffer& buffer : buffers) builder.add(buffer);
    for (std::size_t i = 0; i < messages; ++i) builder.add_message();
    for (std::size_t i = 0; i < all_reduces; ++i) builder.add_all_reduce();
    for (const Op& op : ops) builder.add(op);
    for (const Edge& edge : edges)
      edge.carried ? builder.carry(edge.before, edge.after) : builder.order(edge.before, edge.after);
    return std::move(builder).build();
  }

  template <class Condition>
  std::vector<std::size_t> ops_where(const Condition& condition) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (condition(ops[i])) found.push_back(i);
    }
    return found;
  }

  std::string strategy;
  std::size_t machines;
  std::size_t messages;
  std::size_t all_reduces;
  std::vector<Buffer> buffers;
  std::vector<Op> ops;
  std::vector<Edge> edges;
};

template <class T>
std::optional<T> pick(const std::vector<T>& all, Random& random) {
  if (all.empty()) return std::nullopt;
  return all[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(all.size()) - 1))];
}

bool drop_edge(Parts& parts, bool carried, Random& random) {
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < parts.edges.size(); ++i) {
    if (parts.edges[i].carried == carried) candidates.push_back(i);
  }
  const auto chosen = pick(candidates, random);
  if (!chosen) return false;
  // If the edge occurs several times, all of them are dropped.
  const Edge edge = parts.edges[*chosen];
  std::erase_if(parts.edges, [&](const Edge& other) {
    return other.before == edge.before && other.after == edge.after && other.carried == edge.carried;
  });
  return true;
}

// Moves one slice by an element or by its own length, within its buffer.
bool shift_slice(Parts& parts, Random& random) {
  const auto chosen = pick(
      parts.ops_where([](const Op& op) { return op.from.buffer.valid() || op.into.buffer.valid(); }), random);
  if (!chosen) return false;
  Op& op = parts.ops[*chosen];
  Slice& slice =
      op.from.buffer.valid() && (!op.into.buffer.valid() || random.between(0, 1) == 0) ? op.from : op.into;
  const Bytes step = random.between(0, 1) == 0 ? size(op.dtype) : slice.size;
  const Bytes moved = random.between(0, 1) == 0 ? slice.offset + step : slice.offset - step;
  if (moved < Bytes(0) || moved + slice.size > parts.buffers[slice.buffer.index()].size) return false;
  slice.offset = moved;
  return true;
}

// Swaps the targets of two receives on one machine that have the same size.
bool swap_targets(Parts& parts, Random& random) {
  const auto receives = parts.ops_where([](const Op& op) { return op.kind == OpKind::kReceive; });
  const auto first = pick(receives, random);
  if (!first) return false;
  const Op& a = parts.ops[*first];
  const auto second = pick(parts.ops_where([&](const Op& op) {
    return op.kind == OpKind::kReceive && op.machine == a.machine && op.id != a.id &&
           op.into.size == a.into.size && op.dtype == a.dtype && !(op.into == a.into);
  }),
                           random);
  if (!second) return false;
  std::swap(parts.ops[*first].into, parts.ops[*second].into);
  return true;
}

bool drop_op(Parts& parts, OpKind kind, Random& random) {
  const auto chosen = pick(parts.ops_where([&](const Op& op) { return op.kind == kind; }), random);
  if (!chosen) return false;
  const auto gone = static_cast<std::ptrdiff_t>(*chosen);
  parts.ops.erase(parts.ops.begin() + gone);
  std::erase_if(parts.edges, [&](const Edge& edge) {
    return edge.before.index() == *chosen || edge.after.index() == *chosen;
  });
  const auto renumber = [&](OpId id) { return id.index() > *chosen ? OpId(id.index() - 1) : id; };
  for (Edge& edge : parts.edges) edge = {renumber(edge.before), renumber(edge.after), edge.carried};
  return true;
}

// Adds a second sum with the same predecessors and successors as the first.
bool duplicate_sum(Parts& parts, Random& random) {
  const auto chosen = pick(parts.ops_where([](const Op& op) { return op.kind == OpKind::kSum; }), random);
  if (!chosen) return false;
  const OpId original(*chosen);
  const OpId twin(parts.ops.size());
  parts.ops.push_back(parts.ops[*chosen]);
  const std::vector<Edge> edges = parts.edges;
  for (const Edge& edge : edges) {
    if (edge.before == original) parts.edges.push_back({twin, edge.after, edge.carried});
    if (edge.after == original) parts.edges.push_back({edge.before, twin, edge.carried});
  }
  return true;
}

// Sends a message through a NIC that no machine has.
bool change_nic(Parts& parts, Random& random) {
  const auto chosen = pick(parts.ops_where([](const Op& op) { return is_message(op.kind); }), random);
  if (!chosen) return false;
  parts.ops[*chosen].nic = 7;
  return true;
}

}  // namespace

std::string name(Mutation mutation) {
  switch (mutation) {
    case Mutation::kDropEdge:
      return "an edge dropped";
    case Mutation::kDropCarriedEdge:
      return "a carried edge dropped";
    case Mutation::kShiftSlice:
      return "a slice shifted";
    case Mutation::kSwapTargets:
      return "two receives' targets swapped";
    case Mutation::kDropReceive:
      return "a receive dropped";
    case Mutation::kDropAllReduce:
      return "a machine's part of an all-reduce dropped";
    case Mutation::kDuplicateSum:
      return "a sum done twice";
    case Mutation::kWrongNic:
      return "a missing NIC";
  }
  return {};
}

std::optional<Plan> mutant(const Plan& plan, Mutation mutation, Random random) {
  Parts parts(plan);
  const auto change = [&] {
    switch (mutation) {
      case Mutation::kDropEdge:
        return drop_edge(parts, false, random);
      case Mutation::kDropCarriedEdge:
        return drop_edge(parts, true, random);
      case Mutation::kShiftSlice:
        return shift_slice(parts, random);
      case Mutation::kSwapTargets:
        return swap_targets(parts, random);
      case Mutation::kDropReceive:
        return drop_op(parts, OpKind::kReceive, random);
      case Mutation::kDropAllReduce:
        return drop_op(parts, OpKind::kAllReduce, random);
      case Mutation::kDuplicateSum:
        return duplicate_sum(parts, random);
      case Mutation::kWrongNic:
        return change_nic(parts, random);
    }
    return false;
  };
  if (!change()) return std::nullopt;
  return parts.joined();
}

Plan without(const Plan& plan, OpId before, OpId after) {
  Parts parts(plan);
  std::erase_if(parts.edges, [&](const Edge& edge) { return edge.before == before && edge.after == after; });
  return parts.joined();
}

}  // namespace weir::fuzz
