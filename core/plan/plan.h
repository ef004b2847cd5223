// A plan: what every machine does in one iteration of training, as data. It can be printed, drawn and proved
// (proof.h) before a byte moves. A node (run/node.h) runs its machine's part of it any number of times.
//
// An iteration runs from the start of the last layer's backward to the end of the last layer's forward:
// gradients are computed, summed over all machines, and read by the next forward. In a steady state its
// length is the period of training.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "core/plan/op.h"

namespace weir {

/// The size of a page of host memory. Buffers begin on pages; slices may (PlanBuilder::align_to_pages()).
constexpr Bytes kPage(4096);

/// An edge from an op to an op that waits for it. A carried edge leads into the next iteration: there the op
/// waits for the op of this iteration.
struct Successor {
  std::uint32_t op : 31;
  std::uint32_t carried : 1;
  OpId id() const { return OpId(op); }
};

/// The two ends of a message.
struct MessageEnds {
  OpId send;
  OpId receive;
  /// The other end than this one.
  OpId other(OpId end) const {
    WEIR_CHECK(end == send || end == receive, end);
    return end == send ? receive : send;
  }
};

/// A value. Invariants (ensured by PlanBuilder): ops are sorted by machine, and an op's id is its position;
/// edges join ops of one machine. The proof checks everything else, so that tests can build broken plans and
/// show that they are broken.
class Plan {
 public:
  const std::string& strategy() const { return strategy_; }
  /// The fraction of a NIC's rate that the plan's messages can use together.
  double message_efficiency() const { return message_efficiency_; }
  /// Whether pairs of NICs get shares of links in proportion to their bytes, so that all finish together. If
  /// not, they share evenly.
  bool paced() const { return paced_; }
  std::size_t machines() const { return first_op_.size() - 1; }

  std::span<const Op> ops() const { return ops_; }
  const Op& op(OpId id) const { return ops_[id.index()]; }
  std::span<const Op> ops(MachineId machine) const;

  std::span<const Buffer> buffers() const { return buffers_; }
  const Buffer& buffer(BufferId id) const { return buffers_[id.index()]; }

  /// The GPUs of a group, in ascending order. They have the same numbers on every machine whose slices name
  /// it.
  std::span<const int> group(GroupId id) const { return groups_[id.index()]; }
  std::span<const std::vector<int>> groups() const { return groups_; }

  /// The ops that wait for this one.
  std::span<const Successor> successors(OpId id) const {
    const std::size_t first = first_successor_[id.index()];
    return std::span(successors_).subspan(first, first_successor_[id.index() + 1] - first);
  }
  /// Makes the processor prefetch their place.
  void prefetch_successors(OpId id) const { __builtin_prefetch(&first_successor_[id.index()]); }
  /// How many ops of the same iteration this op waits for; and how many of the iteration before.
  std::uint32_t waits(OpId id) const { return waits_[id.index()]; }
  std::uint32_t carried_waits(OpId id) const { return carried_waits_[id.index()]; }

  /// Both ends of every message. An end that the plan lacks is none.
  std::span<const MessageEnds> messages() const { return messages_; }

  /// The ops of every all-reduce, in order of machine.
  std::span<const std::vector<OpId>> all_reduces() const { return all_reduces_; }
  std::span<const OpId> all_reduce(AllReduceId id) const { return all_reduces_[id.index()]; }

  /// The bytes of the machine's buffers in host memory, and on each of its GPUs.
  Bytes host_memory(MachineId machine) const;
  Bytes gpu_memory(MachineId machine) const;

  /// The machines that this one exchanges messages with, in order.
  std::vector<MachineId> peers(MachineId machine) const;

 private:
  friend class PlanBuilder;
  std::string strategy_;
  double message_efficiency_ = 1.0;
  bool paced_ = true;
  std::vector<Buffer> buffers_;
  std::vector<std::vector<int>> groups_;
  std::vector<Op> ops_;
  std::vector<std::size_t> first_op_;  // by machine, then one entry for the end
  std::vector<std::size_t> first_successor_;
  std::vector<Successor> successors_;
  std::vector<std::uint32_t> waits_;
  std::vector<std::uint32_t> carried_waits_;
  std::vector<MessageEnds> messages_;
  std::vector<std::vector<OpId>> all_reduces_;
};

/// Collects ops in any order; build() sorts them by machine and renumbers them. The ids that add() returns
/// are valid only for edges of this builder.
class PlanBuilder {
 public:
  PlanBuilder(std::string strategy, std::size_t machines);

  /// 1 unless set. Must be above 0 and at most 1.
  void set_message_efficiency(double efficiency);
  /// For plans whose parts pass through many machines one after the other: there each message is needed soon.
  void do_not_pace() { paced_ = false; }
  /// From now on, reserve() places slices of at least a page at the beginning of a page.
  void align_to_pages() { to_pages_ = true; }

  BufferId add(const Buffer& buffer);
  /// The group of these GPUs (in ascending order), or of all GPUs on which the buffer has a replica. The same
  /// GPUs always give the same group.
  GroupId group(const std::vector<int>& gpus);
  GroupId all(BufferId buffer);
  /// Extends the buffer by a slice of this size, aligned to the element, or to a page (align_to_pages()).
  Slice reserve(BufferId buffer, Bytes size, Dtype dtype);
  /// Adds the op and gives it an id.
  OpId add(Op op);
  MessageId add_message();
  AllReduceId add_all_reduce();

  /// `after` starts when `before` of the same iteration has completed. Does nothing if `before` is none. Both
  /// ops are of one machine, and must stay there.
  void order(OpId before, OpId after);
  /// `after` of the next iteration starts when `before` of this one has completed.
  void carry(OpId before, OpId after);

  /// Makes sums into the same slice wait for each other, in the order in which they were added. Otherwise any
  /// order is valid, and the results of floating-point sums depend on it.
  void order_sums();

  /// Removes the edge, for tests that break plans. Returns whether there was one.
  bool remove_edge(OpId before, OpId after);
  Op& op(OpId id) { return ops_[id.index()]; }
  const Buffer& buffer(BufferId id) const { return buffers_[id.index()]; }
  std::size_t size() const { return ops_.size(); }

  Plan build() &&;

 private:
  void check_edge(OpId before, OpId after) const;

  struct Edge {
    OpId before;
    OpId after;
    bool carried;
  };
  std::string strategy_;
  double message_efficiency_ = 1.0;
  bool paced_ = true;
  bool to_pages_ = false;
  std::size_t machines_;
  std::size_t messages_ = 0;
  std::size_t all_reduces_ = 0;
  std::vector<Buffer> buffers_;
  std::vector<std::vector<int>> groups_;
  std::vector<Op> ops_;
  std::vector<Edge> edges_;
};

}  // namespace weir
