#include "core/analysis/critical_path.h"

#include <algorithm>
#include <array>
#include <span>

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

}  // namespace

Duration critical_length(const Plan& plan, const OpTimes& takes) {
  Search search(plan, takes);
  search.run();
  return search.length();
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
