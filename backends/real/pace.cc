#include "backends/real/pace.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace weir::real {
namespace {

constexpr double kChunk = 128 << 10;
constexpr double kAhead = 2e6;  // nanoseconds that a timer may be late without loss

}  // namespace

Pace::Pace(BytesPerSecond rate)
    : rate_(static_cast<double>(rate.value()) * 1e-9),
      most_(std::max(rate_ * kAhead, kChunk)),
      chunk_(kChunk),
      ready_(kChunk) {
  WEIR_CHECK(rate.limited() && rate.value() > 0);
}

std::size_t Pace::take(std::size_t most, Instant now) {
  const std::lock_guard lock(mutex_);
  if (now > then_) {
    ready_ = std::min(most_, ready_ + rate_ * static_cast<double>((now - then_).ns()));
    then_ = now;
  }
  if (ready_ < chunk_) return 0;
  const std::size_t taken = std::min(most, static_cast<std::size_t>(ready_));
  ready_ -= static_cast<double>(taken);
  return taken;
}

void Pace::give_back(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  ready_ = std::min(most_, ready_ + static_cast<double>(bytes));
}

Instant Pace::next(Instant now) const {
  const std::lock_guard lock(mutex_);
  const double missing = std::max(chunk_ - ready_, 0.0);
  return std::max(now, then_ + Duration(static_cast<std::int64_t>(std::ceil(missing / rate_))));
}

}  // namespace weir::real
