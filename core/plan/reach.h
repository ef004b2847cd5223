// Decides whether one op has always ended before another begins, in one iteration or in the next. It searches
// from both ends at once. That is fast if a short path joins the two, as it does in correct plans.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/order.h"

namespace weir {

/// An op has ended when it completes. An end of a message begins when both ends have been submitted.
///
/// Most order between iterations leads through a few gates. A gate is the first event of a machine that waits
/// for the iteration before, such as the first backward. Gates are marked in advance; only the rest needs a
/// search. The plan and the order must outlive this object.
class Reach {
 public:
  Reach(const Plan& plan, const Order& order);

  /// Whether the op with this end has ended before the event of the same iteration begins, by some path of
  /// edges.
  bool joined(End before, std::uint32_t after) { return search(before, ends_of(before), after); }
  /// Whether it has ended before the event of the next iteration begins: because it belongs to that event, or
  /// by a path with one carried edge. Both ends of a message begin in the next iteration only when both have
  /// ended in this one. So what follows from either end there follows from each end here.
  bool joined_next(End before, std::uint32_t after) {
    return before.position == after || joined_by_gate(before, after) || search(before, kBoth, after) ||
           search(before, ends_of(before), events_ + after);
  }

 private:
  using Points =
      std::vector<std::uint32_t>;  // positions; those of the next iteration come after those of this one
  using Marks = std::vector<std::uint64_t>;  // sets of gates

  // Which arcs of an event lead out of it: one bit for the send (or the only op), one for the receive.
  static constexpr std::uint32_t kBoth = 3;
  static std::uint32_t ends_of(End end) { return end.received != 0 ? 2 : 1; }

  void mark_gates(const Plan& plan);
  bool joined_by_gate(End before, std::uint32_t to) const;
  bool search(End before, std::uint32_t ends, std::uint32_t target);
  bool step_forward(std::uint32_t target);
  bool step_backward();
  // Whether the search may follow this arc out of the point.
  bool open(std::uint32_t point, const Arc arc) const {
    return point != source_ || (ends_ >> arc.received & 1) != 0;
  }

  const Order& order_;
  std::uint32_t events_;
  std::size_t words_;                   // words in a set of gates
  Marks gates_ahead_;                   // by event and end: gates of the next iteration that wait for it
  Marks gates_passed_;                  // by event: gates of its own iteration that it waits for
  std::uint32_t source_ = 0;            // of the search
  std::uint32_t ends_ = kBoth;          // which ends of the source count
  std::uint32_t round_ = 0;             // number of the search; marks the points that it has reached
  std::vector<std::uint32_t> forward_;  // by point: the last search that reached it from its source
  std::vector<std::uint32_t> backward_;
  Points ahead_;   // reached from the source; their arcs are not yet followed
  Points behind_;  // the same from the target
  Points found_;
};

}  // namespace weir
