// Decides whether one event always comes before another, in one iteration or in the next: a search from both
// ends at once, which stays short where a short path joins the two, as in plans that are meant to be right.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/order.h"

namespace weir {

/// Most order between iterations leads through a few gates: the first event of each machine that waits for
/// the iteration before, as the first backward does. So those are marked ahead, and the search is left for
/// the rest. The plan and the order outlive this.
class Reach {
 public:
  Reach(const Plan& plan, const Order& order);

  /// Whether the event at `from` comes before the one at `to` of the same iteration, by some path of edges.
  bool joined(std::uint32_t from, std::uint32_t to) { return from < to && search(from, to); }
  /// Whether the event at `from` comes before the one at `to` of the next iteration: because an event comes
  /// before itself in the next iteration, or by a path with one carried edge.
  bool joined_next(std::uint32_t from, std::uint32_t to) {
    return from == to || joined_by_gate(from, to) || joined(from, to) || search(from, events_ + to);
  }

 private:
  using Points =
      std::vector<std::uint32_t>;  // positions; those of the next iteration follow those of this one
  using Marks = std::vector<std::uint64_t>;  // a set of gates for each event

  void mark_gates(const Plan& plan);
  bool joined_by_gate(std::uint32_t from, std::uint32_t to) const;
  bool search(std::uint32_t source, std::uint32_t target);
  bool step_forward(std::uint32_t target);
  bool step_backward(std::uint32_t source);

  const Order& order_;
  std::uint32_t events_;
  std::size_t words_;                   // of a set of gates
  Marks gates_ahead_;                   // gates of the next iteration that wait for the event
  Marks gates_passed_;                  // gates of its own iteration that the event waits for
  std::uint32_t round_ = 0;             // number of the search, which marks the points that it has met
  std::vector<std::uint32_t> forward_;  // by point: the last search that reached it from its source
  std::vector<std::uint32_t> backward_;
  Points ahead_;   // reached from the source, their arcs not yet followed
  Points behind_;  // the same from the target
  Points found_;
};

}  // namespace weir
