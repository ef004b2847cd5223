#include "backends/real/pace.h"

#include "tests/catch.h"

namespace weir::real {
namespace {

using namespace weir::literals;

constexpr std::size_t kChunk = 128 << 10;

// A megabyte a millisecond.
Pace pace_of_1GB() { return Pace(BytesPerSecond(1'000'000'000)); }

TEST_CASE("bytes leave at the rate, in chunks") {
  Pace pace = pace_of_1GB();
  const Instant begin = Instant() + 1_s;
  Instant now = begin;
  std::size_t left = pace.take(1 << 30, now);  // what had gathered before
  CHECK(left == 2'000'000);
  left = 0;
  std::size_t calls = 0;
  while (now - begin < 100_ms) {
    const std::size_t taken = pace.take(1 << 30, now);
    CHECK((taken == 0 || taken >= kChunk));
    left += taken;
    calls += taken > 0 ? 1 : 0;
    const Instant next = pace.next(now);
    REQUIRE((taken == 0 ? next > now : next >= now));
    now = next;
  }
  CHECK(left >= 99'800'000);
  CHECK(left <= 100'000'000);
  CHECK(calls <= 100'000'000 / kChunk + 1);
}

TEST_CASE("who asks late gets what could have left before, two milliseconds' worth at most") {
  Pace pace = pace_of_1GB();
  pace.take(1 << 30, Instant() + 1_s);
  CHECK(pace.take(1 << 30, Instant() + 1_s + 1_ms) == 1'000'000);
  CHECK(pace.take(1 << 30, Instant() + 2_s) == 2'000'000);
}

TEST_CASE("what did not leave may leave at once") {
  Pace pace = pace_of_1GB();
  const Instant now = Instant() + 1_s;
  CHECK(pace.take(1'500'000, now) == 1'500'000);
  CHECK(pace.take(1 << 30, now) == 500'000);
  CHECK(pace.take(1 << 30, now) == 0);
  CHECK((pace.next(now) - now).ns() == static_cast<std::int64_t>(kChunk));
  pace.give_back(300'000);
  CHECK(pace.next(now) == now);
  CHECK(pace.take(1 << 30, now) == 300'000);
}

}  // namespace
}  // namespace weir::real
