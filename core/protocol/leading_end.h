// What a member of a job or session knows of the end that leads it, a coordinator or a leader: whether it
// lives, and how long to wait for its verdict.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "core/protocol/silence.h"

namespace weir {

/// A value; the rules for instants are those of Silence.
class LeadingEnd {
 public:
  /// `name`: for errors, such as "the coordinator".
  LeadingEnd(std::string name, Instant now) : name_(std::move(name)), looked_(now) {}

  /// A note from it has arrived. Returns whether it is the first one.
  bool hear(Instant now);
  /// Whether it was ever heard.
  bool heard() const { return heard_; }

  /// Call it at every tick. Returns the error once it has been silent for kSilence.
  std::optional<Error> look(Instant now);
  /// When the next tick is due.
  Instant wake() const { return looked_ + kLook; }

  /// The member has failed and reported it. The verdict may take kMoment. If the end has ever been heard, the
  /// wait also lasts until it is heard again: only a live one can give a verdict, and peers must not take the
  /// member for the cause of its end.
  void await_verdict(Instant now);
  /// Whether the wait is over, and no verdict has come.
  bool gives_no_verdict(Instant now) const { return now >= until_ && !awaits_word_; }

 private:
  std::string name_;
  Instant looked_;
  Silence silence_;
  bool heard_ = false;
  Instant until_;             // when the verdict is due
  bool awaits_word_ = false;  // whether it must be heard first
};

}  // namespace weir
