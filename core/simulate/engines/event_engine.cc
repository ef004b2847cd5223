#include "core/simulate/engines/event_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/check.h"

namespace weir {

void EventEngine::start_timer(std::uint32_t id, Duration duration) {
  WEIR_CHECK(duration >= Duration(0), id, duration.ns());
  timers_.push({now_ + duration.seconds(), id});
}

// Removes what ends at this instant, and returns its ids.
std::vector<std::uint32_t> EventEngine::take(double at) {
  const double by = at + Earliest::kInstant;
  std::vector<std::uint32_t> ended;
  end_flows(by, ended);
  for (; first_timer().at <= by; timers_.pop()) ended.push_back(timers_.top().id);
  std::sort(ended.begin(), ended.end());
  return ended;
}

Result<void> EventEngine::run(const Begin& begin, const OnInstant& instant) {
  begin();
  while (running_flows_ > 0 || !timers_.empty()) {
    share();
    const double at = std::min(ends_.time(), first_timer().at);
    if (at == Earliest::kNever)
      return failure(fmt::format("{} flows get no rate at {} s", running_flows_, now_));
    now_ = std::max(now_, at);
    instant(take(at));
  }
  return {};
}

}  // namespace weir
