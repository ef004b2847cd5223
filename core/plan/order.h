// What happens before what in a plan. A message is one event: it starts when both of its ends have been
// submitted, and neither end completes before it. Joining the two ends to one point therefore keeps every
// order that rendezvous gives, and a cycle among the events is a deadlock.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/plan/plan.h"

namespace weir {

/// A neighbour of an event: its position, and whether the edge between them is carried into the next
/// iteration.
struct Arc {
  std::uint32_t position : 31;
  std::uint32_t carried : 1;
};

/// The events of one iteration. Invariants: an edge that is not carried leads to a later position; the two
/// ends of a message share their position. The plan outlives the order.
class Order {
 public:
  /// The order of a plan whose structure is valid, or the ops that wait for one another.
  static Result<Order> of(const Plan& plan);

  std::size_t events() const { return sequence_.size(); }
  /// The events in an order in which they can happen; a message stands there as its send.
  std::span<const OpId> sequence() const { return sequence_; }
  std::uint32_t position(OpId op) const { return position_[op.index()]; }

  std::span<const Arc> after(std::uint32_t position) const { return row(after_, first_after_, position); }
  std::span<const Arc> before(std::uint32_t position) const { return row(before_, first_before_, position); }

  /// Whether an edge of the iteration joins the two.
  bool adjacent(std::uint32_t before, std::uint32_t after) const;

 private:
  Order() = default;
  static std::span<const Arc> row(const std::vector<Arc>& arcs, const std::vector<std::uint32_t>& first,
                                  std::uint32_t position) {
    return std::span(arcs).subspan(first[position], first[position + 1] - first[position]);
  }
  void join(const Plan& plan);

  std::vector<OpId> sequence_;
  std::vector<std::uint32_t> position_;  // by op
  std::vector<std::uint32_t> first_after_;
  std::vector<std::uint32_t> first_before_;
  std::vector<Arc> after_;
  std::vector<Arc> before_;
};

}  // namespace weir
