#include "backends/real/wire/pace.h"

#include <array>
#include <optional>

#include "tests/catch.h"

namespace weir::real {
namespace {

using namespace weir::literals;

constexpr std::size_t kChunk = 128 << 10;

// One megabyte per millisecond.
Pace pace_of_a_gigabyte() { return Pace(BytesPerSecond(1'000'000'000)); }

TEST_CASE("bytes leave at the rate, in chunks") {
  Pace pace = pace_of_a_gigabyte();
  const Instant begin = Instant() + 1_s;
  Instant now = begin;
  std::size_t left = pace.take(&pace, 1 << 30, now);  // allowance saved up before
  CHECK(left == 2'000'000);
  left = 0;
  std::size_t calls = 0;
  while (now - begin < 100_ms) {
    const std::size_t taken = pace.take(&pace, 1 << 30, now);
    CHECK((taken == 0 || taken >= kChunk));
    left += taken;
    calls += taken > 0 ? 1 : 0;
    const Instant next = pace.next(&pace, now);
    REQUIRE((taken == 0 ? next > now : next >= now));
    now = next;
  }
  CHECK(left >= 99'800'000);
  CHECK(left <= 100'000'000);
  CHECK(calls <= 100'000'000 / kChunk + 1);
}

TEST_CASE("a late sender may catch up, by at most two milliseconds' worth of bytes") {
  Pace pace = pace_of_a_gigabyte();
  pace.take(&pace, 1 << 30, Instant() + 1_s);
  CHECK(pace.take(&pace, 1 << 30, Instant() + 1_s + 1_ms) == 1'000'000);
  CHECK(pace.take(&pace, 1 << 30, Instant() + 2_s) == 2'000'000);
}

TEST_CASE("bytes that did not leave may leave at once") {
  Pace pace = pace_of_a_gigabyte();
  const Instant now = Instant() + 1_s;
  CHECK(pace.take(&pace, 1'500'000, now) == 1'500'000);
  CHECK(pace.take(&pace, 1 << 30, now) == 500'000);
  CHECK(pace.take(&pace, 1 << 30, now) == 0);
  CHECK((pace.next(&pace, now) - now).ns() == static_cast<std::int64_t>(kChunk));
  pace.give_back(300'000);
  CHECK(pace.next(&pace, now) == now);
  CHECK(pace.take(&pace, 1 << 30, now) == 300'000);
}

TEST_CASE("senders that always want more each get their part, whoever asks first, at any rate") {
  const std::int64_t rate = GENERATE(12'500'000LL, 50'000'000LL, 1'000'000'000LL, 3'000'000'000LL);
  Pace pace{BytesPerSecond(rate)};
  const std::array<int, 4> askers{};
  std::array<std::size_t, 4> left{};
  Instant now = Instant() + 1_s;
  const Instant end = now + 1_s;
  while (now < end) {
    std::optional<Instant> next;
    for (std::size_t i = 0; i < askers.size(); ++i) {
      left[i] += pace.take(&askers[i], 1 << 30, now);
      const Instant own = pace.next(&askers[i], now);
      CHECK(own >= now);
      next = std::min(next.value_or(own), own);
    }
    now = std::max(now + 1_us, *next);
  }
  for (const std::size_t bytes : left) {
    CHECK(static_cast<double>(bytes) > 0.22 * static_cast<double>(rate));
    CHECK(static_cast<double>(bytes) < 0.28 * static_cast<double>(rate));
  }
}

TEST_CASE("a sender that waits and does not come delays nobody") {
  Pace pace = pace_of_a_gigabyte();
  const int gone = 0;
  const int here = 0;
  Instant now = Instant() + 1_s;
  pace.take(&here, 1 << 30, now);
  CHECK(pace.take(&gone, 1 << 30, now) == 0);
  std::size_t left = 0;
  for (const Instant end = now + 100_ms; now < end; now = std::max(now + 1_us, pace.next(&here, now)))
    left += pace.take(&here, 1 << 30, now);
  CHECK(left >= 99'000'000);
}

}  // namespace
}  // namespace weir::real
