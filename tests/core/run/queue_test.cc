#include "core/run/queue.h"

#include "tests/catch.h"

namespace weir {
namespace {

using namespace weir::literals;

TEST_CASE("first come, first served, whatever the priorities") {
  Queue queue(Policy::kFifo, 100_B);
  queue.push(OpId(5), 3, 10_B, Instant());
  queue.push(OpId(2), 1, 10_B, Instant());
  queue.push(OpId(9), 2, 10_B, Instant());
  CHECK(queue.pop() == OpId(5));
  CHECK(queue.pop() == OpId(2));
  CHECK(queue.pop() == OpId(9));
  CHECK(queue.pop() == std::nullopt);
}

TEST_CASE("the most urgent op is served first, ties in order of arrival") {
  Queue queue(Policy::kPriority, 100_B);
  queue.push(OpId(5), 3, 10_B, Instant());
  queue.push(OpId(2), 1, 10_B, Instant());
  queue.push(OpId(1), 3, 10_B, Instant());
  queue.push(OpId(9), -2, 10_B, Instant());
  CHECK(queue.pop() == OpId(9));
  CHECK(queue.pop() == OpId(2));
  CHECK(queue.pop() == OpId(5));
  CHECK(queue.pop() == OpId(1));
}

TEST_CASE("no more bytes are in flight than the window allows") {
  Queue queue(Policy::kFifo, 25_B);
  for (std::size_t i = 0; i < 4; ++i) queue.push(OpId(i), 0, 10_B, Instant());
  CHECK(queue.pop() == OpId(0));
  CHECK(queue.pop() == OpId(1));
  CHECK(queue.pop() == std::nullopt);
  CHECK(queue.in_flight() == 20_B);
  CHECK(queue.waiting() == 2);
  queue.release(10_B);
  CHECK(queue.pop() == OpId(2));
  CHECK(queue.pop() == std::nullopt);
}

TEST_CASE("an op larger than the window goes alone") {
  Queue queue(Policy::kFifo, 5_B);
  queue.push(OpId(0), 0, 100_B, Instant());
  queue.push(OpId(1), 0, 1_B, Instant());
  CHECK(queue.pop() == OpId(0));
  CHECK(queue.pop() == std::nullopt);
  queue.release(100_B);
  CHECK(queue.pop() == OpId(1));
}

TEST_CASE("an urgent op that does not fit holds back those behind it") {
  Queue queue(Policy::kPriority, 10_B);
  queue.push(OpId(0), 5, 4_B, Instant());
  CHECK(queue.pop() == OpId(0));
  queue.push(OpId(1), 1, 8_B, Instant());
  queue.push(OpId(2), 2, 1_B, Instant());
  CHECK(queue.pop() == std::nullopt);
  queue.release(4_B);
  CHECK(queue.pop() == OpId(1));
  CHECK(queue.pop() == OpId(2));
}

TEST_CASE("a window of no bytes serves one op at a time, but any number of empty ops at once") {
  Queue queue(Policy::kFifo, 0_B);
  queue.push(OpId(0), 0, 1_B, Instant());
  queue.push(OpId(1), 0, 1_B, Instant());
  CHECK(queue.pop() == OpId(0));
  CHECK(queue.pop() == std::nullopt);
  queue.release(1_B);
  CHECK(queue.pop() == OpId(1));
  queue.release(1_B);
  queue.push(OpId(2), 0, 0_B, Instant());
  queue.push(OpId(3), 0, 0_B, Instant());
  CHECK(queue.pop() == OpId(2));
  CHECK(queue.pop() == OpId(3));
}

TEST_CASE("a queue reports whether the order of pushes within a nanosecond decided") {
  const auto tied = [](Policy policy, std::int64_t second_priority, Instant second, Bytes window) {
    Queue queue(policy, window);
    queue.push(OpId(0), 1, 1_B, Instant(5));
    queue.push(OpId(1), second_priority, 1_B, second);
    while (queue.pop()) queue.release(1_B);
    return queue.tied();
  };
  CHECK(tied(Policy::kPriority, 1, Instant(5), 0_B));
  CHECK(tied(Policy::kPriority, 1, Instant(6), 0_B));
  CHECK_FALSE(tied(Policy::kPriority, 1, Instant(7), 0_B));
  CHECK_FALSE(tied(Policy::kPriority, 2, Instant(5), 0_B));
  CHECK(tied(Policy::kFifo, 2, Instant(5), 0_B));
  CHECK_FALSE(tied(Policy::kFifo, 2, Instant(7), 0_B));
}

}  // namespace
}  // namespace weir
