// Checks that a simulated process leaves each of its phases in time.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/protocol/silence.h"

namespace weir {

/// Periods in which a process was stopped: begin and end of each.
using Stops = std::vector<std::pair<Instant, Instant>>;

/// Processes look at their deadlines every kLook, and up to 10 ms late.
constexpr Duration kLateLook = kLook + Duration(20'000'000);

/// When a wait with this deadline ends at the latest. A process that was stopped at the deadline looks once
/// it runs again, or `anew` later if its wait then begins anew.
inline Instant latest(Instant deadline, const Stops& stops, Duration anew = Duration(0)) {
  Instant until = deadline + kLateLook;
  for (std::size_t pass = 0; pass < stops.size(); ++pass) {
    for (const auto& [begin, end] : stops) {
      if (begin <= until) until = std::max(until, end + anew + kLateLook);
    }
  }
  return until;
}

/// A value. Phases are those of a protocol.
template <class Phase>
class PhaseClock {
 public:
  PhaseClock(Phase phase, Instant now) : phase_(phase), since_(now) {}

  /// Call whenever the process may have moved on; `anew`: the time of its phase begins again. Returns false
  /// if it has stayed too long in the phase that ends here. `limit` returns the limit of a phase, if it has
  /// one.
  template <class Limit>
  bool move(Phase phase, bool anew, Instant now, const Stops& stops, const Limit& limit) {
    if (phase == phase_ && !anew) return true;
    const std::optional<Duration> most = limit(phase_);
    const bool in_time = !most || now <= latest(since_ + *most, stops);
    phase_ = phase;
    since_ = now;
    return in_time;
  }
  Phase phase() const { return phase_; }
  Instant since() const { return since_; }

 private:
  Phase phase_;
  Instant since_;
};

}  // namespace weir
