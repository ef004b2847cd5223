// When somebody who says every so often that they are alive is taken for lost.
#pragma once

#include <optional>

#include "core/base/units.h"

namespace weir::real {

/// How often the ends of a control channel say that they are alive, whatever else they do.
constexpr Duration kBeat{500'000'000};
/// After which one that says nothing is lost: a few beats, and so short that all who take part can be told of
/// it, and have ended, within five seconds.
constexpr Duration kSilence{3'000'000'000};

/// Since when another end has been silent. A value; instants are of this host's monotonic clock. One that was
/// held up itself has not heard what lies there to be read: silence counts only while one listens.
class Silence {
 public:
  /// It has been heard.
  void end(Instant now) { since_ = looked_ = now; }
  /// For how long, as of now; to be asked several times a second, when nothing lies there to be read. Nothing
  /// of one that has never been heard.
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

}  // namespace weir::real
