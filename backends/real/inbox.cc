#include "backends/real/inbox.h"

#include <poll.h>

#include <algorithm>
#include <iterator>

#include "backends/real/wake.h"

namespace weir::real {

Inbox::Inbox() : wake_(make_wake()) {}

void Inbox::put(Event event) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = events_.empty();
    events_.push_back(std::move(event));
  }
  if (first) wake(wake_);
}

void Inbox::take(std::vector<Event>& into) {
  const std::lock_guard lock(mutex_);
  clear_wake(wake_);
  std::move(events_.begin(), events_.end(), std::back_inserter(into));
  events_.clear();
}

bool Inbox::wait(std::optional<Duration> timeout) {
  {
    const std::lock_guard lock(mutex_);
    if (!events_.empty()) return true;
  }
  pollfd one = {wake_.number(), POLLIN, 0};
  timespec time = {};
  if (timeout) {
    const std::int64_t ns = std::max<std::int64_t>(timeout->ns(), 0);
    time = {ns / 1'000'000'000, ns % 1'000'000'000};
  }
  return ::ppoll(&one, 1, timeout ? &time : nullptr, nullptr) > 0;
}

}  // namespace weir::real
