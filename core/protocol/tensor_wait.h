// How a rank waits for a tensor that it has handed over: when it asks the leader who delays the tensor, when
// it warns its user, and when it gives up. Pure; backends/real/session/waits.cc does the waiting.
//
//   phase       checks            until                   then
//   kWaiting    every second      it is late, or          asks: kAsking
//                                 somebody has left
//   kAsking     for the answer    four seconds            warns (kWaiting) or gives up (kGivenUp)
//
// It gives up if it had already waited for `patience` when it asked, or if a rank that it needs has left.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "core/protocol/session_notes.h"

namespace weir {

/// A value with one owner, who calls step() at wake() or soon after, and as soon as there is an answer.
class TensorWait {
 public:
  enum class Step {
    kWait,
    kAsk,     // ask the leader; earlier answers no longer count
    kWarn,    // warn the user that it has waited for waited()
    kGiveUp,  // final: it waited in vain
    kLost,    // final: somebody has left and will hand nothing over
  };

  TensorWait(Duration warn_after, Duration patience, Instant now)
      : warn_after_(warn_after),
        began_(now),
        asked_(now),
        warn_(now + warn_after),
        until_(now + patience),
        wake_(now + kSoon) {}

  /// `answer`: the leader's answer to the last question, if it has come.
  Step step(Instant now, bool somebody_left, const MissingNote* answer) {
    if (asking_ && (answer != nullptr || now >= wake_)) return decide(now, answer);
    if (asking_ || now < wake_) return Step::kWait;
    wake_ = now + kSoon;
    if (!is_late(now) && !somebody_left) return Step::kWait;
    asking_ = true;
    asked_ = now;
    wake_ = now + kAnswer;
    return Step::kAsk;
  }

  /// When to call step() next, if no answer comes before.
  Instant wake() const { return wake_; }
  /// How long it had waited at the last question.
  Duration waited() const { return asked_ - began_; }

 private:
  static constexpr Duration kSoon{1'000'000'000};
  static constexpr Duration kAnswer{4'000'000'000};

  bool is_late(Instant now) const { return now >= std::min(warn_, until_); }
  Step decide(Instant now, const MissingNote* answer) {
    asking_ = false;
    wake_ = now + kSoon;
    if (answer != nullptr && !answer->who.empty() && answer->left) return Step::kLost;
    if (asked_ >= until_) return Step::kGiveUp;
    if (!is_late(asked_)) return Step::kWait;
    warn_ = asked_ + warn_after_;
    return Step::kWarn;
  }

  Duration warn_after_;
  Instant began_;
  Instant asked_;
  Instant warn_;
  Instant until_;
  Instant wake_;
  bool asking_ = false;
};

/// "not handed over by rank 1": what a tensor waits for, according to the leader's answer, if any.
std::string waits_for(const MissingNote* answer, bool kept);

}  // namespace weir
