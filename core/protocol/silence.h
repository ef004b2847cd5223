// When a process that reports every half second that it is alive counts as lost.
#pragma once

#include <optional>
#include <utility>

#include "core/base/units.h"

namespace weir {

/// How often both ends of a control channel report that they are alive, whatever else they do.
constexpr Duration kHeartbeat{500'000'000};
/// After this much silence an end counts as lost. It is a few beats, and short enough that all processes have
/// the reason, and have ended, within five seconds.
constexpr Duration kSilence{3'000'000'000};
/// A process is asked for its deadlines at least this often.
constexpr Duration kLook{100'000'000};
/// For a verdict: whoever fails because another process has failed learns the cause within this time.
constexpr Duration kMoment{1'000'000'000};
/// Whoever leads waits for the same step as the others, with the same patience. It knows who is missing and
/// must say so first, so the others wait for this much longer.
constexpr Duration kAfterLeader = kMoment * 2;

/// How long another end has been silent. A value; instants are of this host's monotonic clock. A process that
/// was itself stopped has not read what arrived, so silence counts only while this process listens.
class Silence {
 public:
  /// The other end has been heard.
  void end(Instant now) { since_ = looked_ = now; }
  /// The length of the silence. Ask several times a second, after reading all that has arrived. 0 for an end
  /// that has never been heard.
  Duration length(Instant now) {
    if (!since_) return Duration(0);
    if (now - looked_ > kHeldUp) since_ = now;
    looked_ = now;
    return now - *since_;
  }

 private:
  static constexpr Duration kHeldUp{1'000'000'000};
  std::optional<Instant> since_;
  Instant looked_;
};

/// Whether this process stood still for so long that others may have taken it for lost: failures soon
/// afterwards may be due to that. A value; call notice() whenever anything happens.
class StoodStill {
 public:
  explicit StoodStill(Instant now) : last_(now) {}
  void notice(Instant now) {
    constexpr Duration kLong = kSilence - kHeartbeat * 2;
    if (now - last_ > kLong) still_ = {last_, now};
    last_ = now;
  }
  /// How long it stood still, if that was recent.
  std::optional<Duration> recently(Instant now) const {
    if (!still_ || now - still_->second >= kSilence * 2) return std::nullopt;
    return still_->second - still_->first;
  }

 private:
  Instant last_;
  std::optional<std::pair<Instant, Instant>> still_;  // begin and end
};

}  // namespace weir
