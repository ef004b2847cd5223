// Decides whether one op has always ended before another begins, in one iteration or in the next: a search
// from both ends at once, which stays short where a short path joins the two, as in plans that are meant to
// be right.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/order.h"

namespace weir {

/// An op has ended when it completes; an end of a message begins when both have been submitted.
///
/// Most order between iterations leads through a few gates: the first event of each machine that waits for
/// the iteration before, as the first backward does. So those are marked ahead, and the search is left for
/// the rest. The plan and the order outlive this.
class Reach {
 public:
  Reach(const Plan& plan, const Order& order);

  /// Whether the op that ends so ends before the event of the same iteration begins, by some path of edges.
  bool joined(End before, std::uint32_t after) { return search(before, ends_of(before), after); }
  /// Whether it ends before the event of the next iteration begins: because it is of that event, or by a path
  /// with one carried edge. Both ends of a message begin in the next iteration only when both have ended in
  /// this one, so what follows from either of them there follows from each of them here.
  bool joined_next(End before, std::uint32_t after) {
    return before.position == after || joined_by_gate(before, after) || search(before, kBoth, after) ||
           search(before, ends_of(before), events_ + after);
  }

 private:
  using Points =
      std::vector<std::uint32_t>;  // positions; those of the next iteration follow those of this one
  using Marks = std::vector<std::uint64_t>;  // sets of gates

  // Which arcs of an event lead out of it: a bit for the send (or the only op) and one for the receive.
  static constexpr std::uint32_t kBoth = 3;
  static std::uint32_t ends_of(End end) { return end.received != 0 ? 2 : 1; }

  void mark_gates(const Plan& plan);
  bool joined_by_gate(End before, std::uint32_t to) const;
  bool search(End before, std::uint32_t ends, std::uint32_t target);
  bool step_forward(std::uint32_t target);
  bool step_backward();
  // Whether the arc, which leaves the point, is a way to go.
  bool open(std::uint32_t point, const Arc arc) const {
    return point != source_ || (ends_ >> arc.received & 1) != 0;
  }

  const Order& order_;
  std::uint32_t events_;
  std::size_t words_;                   // of a set of gates
  Marks gates_ahead_;                   // by event and end: gates of the next iteration that wait for it
  Marks gates_passed_;                  // by event: gates of its own iteration that it waits for
  std::uint32_t source_ = 0;            // of the search
  std::uint32_t ends_ = kBoth;          // of the source that count
  std::uint32_t round_ = 0;             // number of the search, which marks the points that it has met
  std::vector<std::uint32_t> forward_;  // by point: the last search that reached it from its source
  std::vector<std::uint32_t> backward_;
  Points ahead_;   // reached from the source, their arcs not yet followed
  Points behind_;  // the same from the target
  Points found_;
};

}  // namespace weir
