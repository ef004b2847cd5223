#include "backends/real/wire/pace.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace weir::real {
namespace {

constexpr double kChunk = 128 << 10;
constexpr double kAhead = 2e6;  // how many nanoseconds late a timer may be without loss

}  // namespace

Pace::Pace(BytesPerSecond rate)
    : rate_(static_cast<double>(rate.value()) * 1e-9),
      most_(std::max(rate_ * kAhead, 2 * kChunk)),
      chunk_(kChunk),
      ready_(kChunk) {
  WEIR_CHECK(rate.limited() && rate.value() > 0);
}

// How many bytes are kept for those who have waited longer. Never so many that less than a chunk would be
// left.
double Pace::kept_before(Asker asker) const {
  const auto place = std::find(waiting_.begin(), waiting_.end(), asker) - waiting_.begin();
  return std::min(static_cast<double>(place) * chunk_, most_ - chunk_);
}

std::size_t Pace::take(Asker asker, std::size_t most, Instant now) {
  const std::lock_guard lock(mutex_);
  if (now > then_) {
    ready_ = std::min(most_, ready_ + rate_ * static_cast<double>((now - then_).ns()));
    then_ = now;
  }
  const double own = ready_ - kept_before(asker);
  const auto place = std::find(waiting_.begin(), waiting_.end(), asker);
  if (own < chunk_) {
    if (place == waiting_.end()) waiting_.push_back(asker);
    return 0;
  }
  if (place != waiting_.end()) waiting_.erase(place);
  const std::size_t taken = std::min(most, static_cast<std::size_t>(own));
  ready_ -= static_cast<double>(taken);
  return taken;
}

void Pace::give_back(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  ready_ = std::min(most_, ready_ + static_cast<double>(bytes));
}

Instant Pace::next(Asker asker, Instant now) const {
  const std::lock_guard lock(mutex_);
  const double missing = std::max(kept_before(asker) + chunk_ - ready_, 0.0);
  return std::max(now, then_ + Duration(static_cast<std::int64_t>(std::ceil(missing / rate_))));
}

}  // namespace weir::real
