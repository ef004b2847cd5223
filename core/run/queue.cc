#include "core/run/queue.h"

#include <algorithm>

namespace weir {
namespace {

constexpr Duration kTie{1};  // nanoseconds

}  // namespace

Bytes charge(const Op& op) {
  switch (served(op.kind)) {
    case Serving::kWithinWindow:
      return main_slice(op).size;
    case Serving::kOneByOne:
      return Bytes(1);
    case Serving::kAllAtOnce:
    case Serving::kUnserved:
      return Bytes(0);
  }
  return Bytes(0);
}

void Queue::push(OpId op, std::int64_t priority, Bytes size, Instant now) {
  heap_.push_back({policy_ == Policy::kPriority ? priority : 0, pushed_++, size, op, now});
  std::push_heap(heap_.begin(), heap_.end(), Later());
}

std::optional<OpId> Queue::pop() {
  if (heap_.empty()) return std::nullopt;
  const Entry next = heap_.front();
  if (started_ > 0 && in_flight_ + next.size > window_) return std::nullopt;
  std::pop_heap(heap_.begin(), heap_.end(), Later());
  heap_.pop_back();
  // If the new front is equally urgent, it was pushed next after this one.
  if (!heap_.empty() && heap_.front().key == next.key && heap_.front().since - next.since <= kTie)
    tied_ = true;
  ++started_;
  in_flight_ += next.size;
  return next.op;
}

void Queue::release(Bytes size) {
  WEIR_CHECK(started_ > 0 && in_flight_ >= size, started_, in_flight_.count(), size.count());
  --started_;
  in_flight_ -= size;
}

}  // namespace weir
