// Real time as Instants: nanoseconds of this host's monotonic clock since a moment that all nodes of a job on
// this host share.
#pragma once

#include <chrono>

#include "core/base/units.h"

namespace weir::real {

/// A value. Any thread may use it.
class Clock {
 public:
  /// Starts now.
  Clock() : Clock(monotonic()) {}
  /// Starts when the host's monotonic clock shows this, which may be in the future. Instants before the start
  /// are negative.
  explicit Clock(Instant begin) : begin_(begin) {}

  Instant now() const { return at(monotonic()); }
  /// The host's monotonic clock at this instant.
  Instant at(Instant monotonic) const { return Instant((monotonic - begin_).ns()); }

  /// The host's monotonic clock now.
  static Instant monotonic() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return Instant(std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
  }

 private:
  Instant begin_;
};

}  // namespace weir::real
