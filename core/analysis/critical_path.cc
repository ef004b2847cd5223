#include "core/analysis/critical_path.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

namespace weir {
namespace {

class Search {
 public:
  Search(const Plan& plan, const OpTimes& takes) : plan_(plan), takes_(takes), nodes_(plan.ops().size()) {}

  void run() {
    for (const Op& op : plan_.ops()) {
      Node& node = nodes_[op.id.index()];
      node.together = meets(op.kind) == Meets::kNobody ? 0 : 1;
      node.waits = (plan_.waits(op.id) + node.together) & 0x7fffffffU;
    }
    for (const Op& op : plan_.ops()) {
      if (plan_.waits(op.id) == 0) next_.push_back(op.id);
    }
    while (!next_.empty()) {
      const OpId id = next_.back();
      next_.pop_back();
      const Op& op = plan_.op(id);
      switch (meets(op.kind)) {
        case Meets::kNobody:
          complete(id, node(id).ready + takes_(id));
          break;
        case Meets::kOtherEnd: {
          const MessageEnds ends = plan_.messages()[op.message.index()];
          reach(std::array{ends.send, ends.receive}, id);
          break;
        }
        case Meets::kMachines:
          reach(plan_.all_reduce(op.all_reduce), id);
          break;
      }
    }
  }

  Duration length() const { return length_; }
  // All ops, each after those that it waits for. Ops that meet others are listed together.
  const std::vector<OpId>& order() const { return order_; }

  // Walks back from the op that ends last; leaves joins out.
  std::vector<OpId> ops() const {
    std::vector<OpId> ops;
    for (OpId id = last_; id.valid();) {
      const Op& op = plan_.op(id);
      OpId cause = node(id).cause;
      OpId shown = id;
      switch (meets(op.kind)) {
        case Meets::kNobody:
          break;
        case Meets::kOtherEnd: {
          const MessageEnds ends = plan_.messages()[op.message.index()];
          shown = ends.send;
          cause = node(node(ends.send).ready >= node(ends.receive).ready ? ends.send : ends.receive).cause;
          break;
        }
        case Meets::kMachines: {
          const OpId last = std::ranges::max(plan_.all_reduce(op.all_reduce), {},
                                             [&](OpId other) { return node(other).ready; });
          cause = node(last).cause;
          break;
        }
      }
      if (!is_control(op.kind)) ops.push_back(shown);
      id = cause;
    }
    std::reverse(ops.begin(), ops.end());
    return ops;
  }

 private:
  // What a step reads and writes of an op, stored together.
  struct Node {
    Duration ready;
    OpId cause;  // the op after whose end it became ready
    std::uint32_t waits : 31;
    // 1 if the op also waits for others: a message's end for the other end, an all-reduce's op for the other
    // ops.
    std::uint32_t together : 1;
  };

  Node& node(OpId id) { return nodes_[id.index()]; }
  const Node& node(OpId id) const { return nodes_[id.index()]; }

  void reach(std::span<const OpId> together, OpId id) {
    node(id).waits = 0;
    Duration ready;
    Duration longest;
    for (const OpId op : together) {
      if (node(op).waits > 0) return;
      ready = std::max(ready, node(op).ready);
      longest = std::max(longest, takes_(op));
    }
    for (const OpId op : together) complete(op, ready + longest);
  }

  void complete(OpId id, Duration at) {
    if (at > length_ || !last_.valid()) {
      length_ = at;
      last_ = id;
    }
    order_.push_back(id);
    for (const Successor successor : plan_.successors(id)) {
      if (successor.carried != 0) continue;
      Node& next = nodes_[successor.op];
      if (at > next.ready || !next.cause.valid()) {
        next.ready = at;
        next.cause = id;
      }
      --next.waits;
      if (next.waits == next.together) next_.push_back(successor.id());
    }
  }

  const Plan& plan_;
  const OpTimes& takes_;
  std::vector<Node> nodes_;  // by op
  std::vector<OpId> next_;
  std::vector<OpId> order_;
  Duration length_;
  OpId last_;
};

// The counter for ops of this kind.
Duration& time_of_kind(CriticalPath& path, OpKind kind) {
  switch (kind) {
    case OpKind::kBackward:
    case OpKind::kForward:
      return path.compute;
    case OpKind::kReduceScatter:
    case OpKind::kAllGather:
    case OpKind::kReduce:
    case OpKind::kBroadcast:
    case OpKind::kAllReduce:
      return path.collectives;
    case OpKind::kCopy:
      return path.copies;
    case OpKind::kSend:
    case OpKind::kReceive:
      return path.sends;
    case OpKind::kSum:
      return path.sums;
    case OpKind::kUpdate:
      return path.updates;
    case OpKind::kJoin:
    case OpKind::kWait:
    case OpKind::kHold:
      return path.waits;
  }
  return path.waits;
}

// The longest chain from the moment at which an op is ready to the end of an iteration some steps later.
class Chains {
 public:
  Chains(const Plan& plan, const WorkTable& works, std::vector<OpId> order)
      : plan_(plan), works_(works), order_(std::move(order)), now_(order_.size(), kNone), later_(now_) {}

  // Goes back by one iteration, and returns the longest chain from the end of the machine's iteration before
  // for the machine from which it is shortest.
  Duration step() {
    now_.swap(later_);
    const bool last = !std::exchange(begun_, true);
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
      const Op& op = plan_.op(*id);
      switch (meets(op.kind)) {
        case Meets::kNobody:
          set(std::array{*id}, last);
          break;
        case Meets::kOtherEnd: {
          const MessageEnds ends = plan_.messages()[op.message.index()];
          if (*id == ends.send) set(std::array{ends.send, ends.receive}, last);
          break;
        }
        case Meets::kMachines: {
          const std::span<const OpId> all = plan_.all_reduce(op.all_reduce);
          if (*id == all.front()) set(all, last);
          break;
        }
      }
    }
    return shortest();
  }

 private:
  static constexpr Duration kNone = Duration(-1);

  void set(std::span<const OpId> together, bool last) {
    Duration longest;
    Duration after = kNone;
    for (const OpId id : together) {
      longest = std::max(longest, works_.shortest(id));
      if (last && takes_sums(plan_.op(id).kind)) after = std::max(after, Duration());
      for (const Successor successor : plan_.successors(id))
        after = std::max(after, (successor.carried != 0 ? later_ : now_)[successor.op]);
    }
    for (const OpId id : together) now_[id.index()] = after == kNone ? kNone : after + longest;
  }

  // A machine's iteration ends with its forward of the last layer. Ops of the next one wait for that.
  Duration shortest() const {
    std::vector<OpId> ends(plan_.machines());
    for (const Op& op : plan_.ops()) {
      OpId& end = ends[op.machine.index()];
      if (takes_sums(op.kind) && (!end.valid() || op.layer > plan_.op(end).layer)) end = op.id;
    }
    std::optional<Duration> shortest;
    for (const OpId end : ends) {
      if (!end.valid()) continue;
      Duration longest;
      for (const Successor successor : plan_.successors(end)) {
        if (successor.carried != 0) longest = std::max(longest, now_[successor.op]);
      }
      shortest = std::min(shortest.value_or(longest), longest);
    }
    return shortest.value_or(Duration());
  }

  const Plan& plan_;
  const WorkTable& works_;
  std::vector<OpId> order_;
  std::vector<Duration> now_;    // by op, in the iteration that is being visited
  std::vector<Duration> later_;  // in the next iteration
  bool begun_ = false;
};

}  // namespace

Duration critical_length(const Plan& plan, const OpTimes& takes) {
  Search search(plan, takes);
  search.run();
  return search.length();
}

Windows critical_windows(const Plan& plan, const WorkTable& works) {
  constexpr std::size_t kManyOps = 2'000'000;  // more steps than two would take long
  constexpr int kSteps = 8;
  const OpTimes takes = [&](OpId op) { return works.shortest(op); };
  Search search(plan, takes);
  search.run();
  Chains chains(plan, works, search.order());
  Windows windows;
  for (int steps = 1; steps <= (plan.ops().size() > kManyOps ? 2 : kSteps); ++steps)
    windows.offer(steps, chains.step().seconds());
  return windows;
}

CriticalPath critical_path(const Plan& plan, const WorkTable& works) {
  const OpTimes takes = [&](OpId op) { return works.shortest(op); };
  Search search(plan, takes);
  search.run();
  CriticalPath path;
  path.length = search.length();
  path.ops = search.ops();
  for (const OpId op : path.ops) {
    const Duration latency = works.of(op).latency;
    path.latency += latency;
    time_of_kind(path, plan.op(op).kind) += takes(op) - latency;
  }
  return path;
}

}  // namespace weir
