// Real time as Instants: nanoseconds of this host's monotonic clock since a moment that all nodes of a job on
// this host agree on.
#pragma once

#include <chrono>

#include "core/base/units.h"

namespace weir::real {

/// A value. Any thread may ask.
class Clock {
 public:
  /// Begins now.
  Clock() : Clock(monotonic()) {}
  /// Begins when the host's monotonic clock showed this, which may be in the future: instants before are
  /// negative.
  explicit Clock(Instant begin) : begin_(begin) {}

  Instant now() const { return at(monotonic()); }
  /// When the host's monotonic clock shows this.
  Instant at(Instant monotonic) const { return Instant((monotonic - begin_).ns()); }

  /// What the host's monotonic clock shows.
  static Instant monotonic() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return Instant(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
  }

 private:
  Instant begin_;
};

}  // namespace weir::real
