// The order of events in a plan. A message begins when both of its ends have been submitted. Neither end
// completes before that, but the ends complete independently. So a message is one event, its beginning, with
// two ends: ops that wait for the send follow one end, ops that wait for the receive follow the other.
//
// Each op of an all-reduce is an event of its own, since these ops complete independently. But no machine has
// a sum before every machine has begun: whatever one of the ops waits for, the results of all of them wait
// for. (A machine may read its own input earlier. There race.cc looks at the machine's own op.) A cycle among
// the events is a deadlock.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/plan/plan.h"

namespace weir {

/// The completion of an op: its event and, for a message, whether the receive or the send completes.
struct End {
  std::uint32_t position : 31;
  std::uint32_t received : 1;
  friend bool operator==(const End&, const End&) = default;
};

/// An edge between two events, seen from one of them. If the first event is a message, `received` says that
/// the edge waits for its receive, not for its send.
struct Arc {
  std::uint32_t position : 30;  // of the other event
  std::uint32_t carried : 1;    // into the next iteration
  std::uint32_t received : 1;
};

/// The events of one iteration. Invariants: an edge that is not carried leads to a later position; both ends
/// of a message have the same position. The plan must outlive the order.
class Order {
 public:
  /// The order of a plan, whose structure must be valid; or an error that names the ops of a cycle.
  static Result<Order> of(const Plan& plan);

  std::size_t events() const { return sequence_.size(); }
  /// The events in an order in which they can happen. A message is listed as its send.
  std::span<const OpId> sequence() const { return sequence_; }
  std::uint32_t position(OpId op) const { return position_[op.index()]; }
  End end(OpId op) const {
    const std::uint32_t at = position(op);
    return {at & 0x7fffffffU, sequence_[at] == op ? 0U : 1U};
  }

  std::span<const Arc> after(std::uint32_t position) const { return row(after_, first_after_, position); }
  std::span<const Arc> before(std::uint32_t position) const { return row(before_, first_before_, position); }

  /// Whether one edge leads from the end to the event; if `carried`, to the event of the next iteration.
  bool adjacent(End before, std::uint32_t after, bool carried) const {
    const Arc wanted{after & 0x3fffffffU, carried ? 1U : 0U, before.received};
    for (const Arc arc : this->after(before.position)) {
      if (std::bit_cast<std::uint32_t>(arc) == std::bit_cast<std::uint32_t>(wanted)) return true;
    }
    return false;
  }

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
