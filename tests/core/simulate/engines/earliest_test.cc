#include "core/simulate/engines/earliest.h"

#include "core/base/random.h"
#include "tests/catch.h"

namespace weir {
namespace {

TEST_CASE("the earliest of many times is known however they change") {
  Earliest earliest;
  CHECK(earliest.time() == Earliest::kNever);
  std::vector<double> times;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    Random random = Random(7).split(i);
    if (times.empty() || random.between(0, 9) == 0) {
      times.push_back(Earliest::kNever);
      earliest.grow(times.size());
    }
    const auto thing =
        static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(times.size()) - 1));
    const std::int64_t when = random.between(0, 200);
    times[thing] = when == 200 ? Earliest::kNever : static_cast<double>(when);
    earliest.set(thing, times[thing]);
    const auto first = std::ranges::min_element(times);
    REQUIRE(earliest.time() == *first);
    if (*first < Earliest::kNever)
      REQUIRE(earliest.thing() == static_cast<std::size_t>(first - times.begin()));
  }
}

}  // namespace
}  // namespace weir
