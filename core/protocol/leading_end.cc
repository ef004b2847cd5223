#include "core/protocol/leading_end.h"

#include <fmt/format.h>

#include "core/base/units_text.h"

namespace weir {

bool LeadingEnd::hear(Instant now) {
  silence_.end(now);
  // Notes that had already arrived when the member failed do not show that this end is alive now.
  if (now + kHeartbeat >= until_) awaits_word_ = false;
  return !std::exchange(heard_, true);
}

std::optional<Error> LeadingEnd::look(Instant now) {
  looked_ = now;
  if (silence_.length(now) <= kSilence) return std::nullopt;
  return Error{fmt::format("{} has said nothing for {}", name_, text(kSilence))};
}

void LeadingEnd::await_verdict(Instant now) {
  awaits_word_ = heard_;
  until_ = now + kMoment;
}

}  // namespace weir
