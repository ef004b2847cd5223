// How time passes in Weir's own fluid engines: it jumps from instant to instant at which something ends.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "core/simulate/engines/earliest.h"
#include "core/simulate/engines/engine.h"

namespace weir {

/// An engine that knows when its flows end at their current rates.
///
/// Invariants:
/// * Time begins at 0, never goes back, and moves only between two calls of `instant`.
/// * What ends within a picosecond of the earliest end belongs to the same instant.
/// * The same calls give the same instants, bit for bit.
class EventEngine : public Engine {
 public:
  double seconds() const final { return now_; }
  /// Call it within run().
  void start_timer(std::uint32_t id, Duration duration) final;
  Result<void> run(const Begin& begin, const OnInstant& instant) final;

 protected:
  struct Timer {
    double at = Earliest::kNever;
    std::uint32_t id = 0;
    bool operator>(const Timer& other) const { return at > other.at; }
  };
  /// The timer that ends first; its time is kNever if there is none.
  Timer first_timer() const { return timers_.empty() ? Timer() : timers_.top(); }

  /// Gives all flows their rates from now on.
  virtual void share() = 0;
  /// Ends the flows that end up to this time, and appends their ids.
  virtual void end_flows(double by, std::vector<std::uint32_t>& ended) = 0;

  Earliest ends_;  // of flows, or of links that hold some
  std::size_t running_flows_ = 0;
  double now_ = 0.0;

 private:
  std::vector<std::uint32_t> take(double at);

  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
};

}  // namespace weir
