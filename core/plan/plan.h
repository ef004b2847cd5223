// A plan: what every machine does in one iteration of training, as data. It can be printed, drawn and proved
// (proof.h) before a byte moves; a node (run/node.h) runs its machine's part of it any number of times.
//
// An iteration runs from the start of the last layer's backward to the end of the last layer's forward:
// gradients are computed, summed over all machines, and read by the next forward. In a steady state its
// length is the period of training.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/plan/op.h"

namespace weir {

/// Of host memory: what buffers begin on, and slices may (PlanBuilder::align_to_pages()).
constexpr Bytes kPage(4096);

/// An edge from an op to one that waits for it. A carried edge reaches into the next iteration: there the op
/// waits for what this iteration did.
struct Successor {
  std::uint32_t op : 31;
  std::uint32_t carried : 1;
  OpId id() const { return OpId(op); }
};

/// The two ends of a message.
struct MessageEnds {
  OpId send;
  OpId receive;
};

/// A value. Invariants (given by PlanBuilder): ops lie machine by machine and their id is their position;
/// edges join ops of one machine. What else makes a plan right is the proof's matter, so that broken plans
/// can be built and shown to be broken.
class Plan {
 public:
  const std::string& strategy() const { return strategy_; }
  /// The fraction of a NIC's rate that the plan's messages reach together.
  double message_efficiency() const { return message_efficiency_; }
  /// Whether pairs of NICs get shares of links by the bytes that they have to move, so that all end together.
  /// Else they share evenly.
  bool paced() const { return paced_; }
  std::size_t machines() const { return first_op_.size() - 1; }

  std::span<const Op> ops() const { return ops_; }
  const Op& op(OpId id) const { return ops_[id.index()]; }
  std::span<const Op> ops(MachineId machine) const;

  std::span<const Buffer> buffers() const { return buffers_; }
  const Buffer& buffer(BufferId id) const { return buffers_[id.index()]; }

  /// The GPUs of a group, in ascending order: the same numbers on every machine whose slices name it.
  std::span<const int> group(GroupId id) const { return groups_[id.index()]; }
  std::span<const std::vector<int>> groups() const { return groups_; }

  /// The ops that wait for this one.
  std::span<const Successor> successors(OpId id) const {
    const std::size_t first = first_successor_[id.index()];
    return std::span(successors_).subspan(first, first_successor_[id.index() + 1] - first);
  }
  /// Has the processor fetch where they stand.
  void prefetch_successors(OpId id) const { __builtin_prefetch(&first_successor_[id.index()]); }
  /// How many ops of the same iteration, and of the one before, this op waits for.
  std::uint32_t waits(OpId id) const { return waits_[id.index()]; }
  std::uint32_t carried_waits(OpId id) const { return carried_waits_[id.index()]; }

  /// The ends of every message; an end that the plan lacks is none.
  std::span<const MessageEnds> messages() const { return messages_; }

  /// The ops of every all-reduce, in order of machine.
  std::span<const std::vector<OpId>> all_reduces() const { return all_reduces_; }
  std::span<const OpId> all_reduce(AllReduceId id) const { return all_reduces_[id.index()]; }

  /// Bytes of the machine's buffers in host memory, and on each of its GPUs.
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
  std::vector<std::size_t> first_op_;  // per machine, and the end
  std::vector<std::size_t> first_successor_;
  std::vector<Successor> successors_;
  std::vector<std::uint32_t> waits_;
  std::vector<std::uint32_t> carried_waits_;
  std::vector<MessageEnds> messages_;
  std::vector<std::vector<OpId>> all_reduces_;
};

/// Collects ops in any order; build() sorts them by machine and renumbers them. Ids that add() returns are
/// for edges of this builder only.
class PlanBuilder {
 public:
  PlanBuilder(std::string strategy, std::size_t machines);

  /// 1 unless set: above 0, up to 1.
  void set_message_efficiency(double efficiency);
  /// For plans whose parts go through many machines one after the other: each message is wanted soon.
  void do_not_pace() { paced_ = false; }
  /// From now on reserve() begins slices that fill a page on one.
  void align_to_pages() { to_pages_ = true; }

  BufferId add(const Buffer& buffer);
  /// The group of these GPUs, in ascending order, or of all that the buffer has a replica on; the same GPUs
  /// are the same group.
  GroupId group(const std::vector<int>& gpus);
  GroupId all(BufferId buffer);
  /// Makes the buffer larger by a slice of this size, aligned to the element, or to a page
  /// (align_to_pages()).
  Slice reserve(BufferId buffer, Bytes size, Dtype dtype);
  /// Adds the op; its id is given here.
  OpId add(Op op);
  MessageId add_message();
  AllReduceId add_all_reduce();

  /// `after` starts when `before` of the same iteration has completed. Nothing happens if `before` is none.
  /// Both are of one machine, and stay there.
  void order(OpId before, OpId after);
  /// `after` of the next iteration starts when `before` of this one has completed.
  void carry(OpId before, OpId after);

  /// Has sums into the same slice wait for one another, in the order in which they were added: else any order
  /// is right, and what floating-point numbers come to depends on it.
  void order_sums();

  /// Removes the edge; for tests that break plans. True if there was one.
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
