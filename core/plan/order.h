// What happens before what in a plan. A message begins when both of its ends have been submitted, and neither
// end completes before that; but the ends complete each on its own. So a message is one event, its beginning,
// from which two ends follow: what waits for the send waits for the one, what waits for the receive for the
// other. The ops of an all-reduce are an event each, since they complete each on its own; but what one of
// them waits for, the others' results do: a sum is nowhere before every machine has begun. (What a machine
// reads for it, it may read before: race.cc asks for the machine's own op then.) A cycle among the events is
// a deadlock.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/plan/plan.h"

namespace weir {

/// The completion of an op: its event, and of a message whether it is the receive that completes or the send.
struct End {
  std::uint32_t position : 31;
  std::uint32_t received : 1;
  friend bool operator==(const End&, const End&) = default;
};

/// An edge between two events, seen from one of them. Of a message, `received` says that the edge waits for
/// the receive rather than for the send.
struct Arc {
  std::uint32_t position : 30;  // of the other event
  std::uint32_t carried : 1;    // into the next iteration
  std::uint32_t received : 1;
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
  End end(OpId op) const {
    const std::uint32_t at = position(op);
    return {at & 0x7fffffffU, sequence_[at] == op ? 0U : 1U};
  }

  std::span<const Arc> after(std::uint32_t position) const { return row(after_, first_after_, position); }
  std::span<const Arc> before(std::uint32_t position) const { return row(before_, first_before_, position); }

  /// Whether one edge leads from the end to the event, into the next iteration if `carried`.
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
