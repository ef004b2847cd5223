#include "backends/real/process/inbox.h"

#include <poll.h>

#include <algorithm>
#include <iterator>

#include "backends/real/process/wake.h"

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
  std::move(events_.begin(), events_.end(), std::back_inserter(into));
  events_.clear();
}

void Inbox::end_wait() { wake(wake_); }

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
  if (::ppoll(&one, 1, timeout ? &time : nullptr, nullptr) <= 0) return false;
  // Cleared here, so that take() needs no system call under the lock that all engines use. If the events have
  // already been taken, the caller finds none and waits again.
  clear_wake(wake_);
  return true;
}

}  // namespace weir::real
