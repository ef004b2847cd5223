#include "backends/real/meters/sum_meter.h"

#include <array>
#include <atomic>

#include "tests/catch.h"

namespace weir::real {
namespace {

using namespace weir::literals;

TEST_CASE("each member of a team does its part of each work once, in parallel") {
  for (const int members : {1, 2, 5}) {
    auto team = Team::make(members, std::nullopt);
    REQUIRE(team.has_value());
    CHECK((*team)->members() == members);
    std::array<std::atomic<int>, 5> done{};
    for (int round = 1; round <= 20; ++round) {
      const Duration time = (*team)->run([&](int member) { ++done[static_cast<std::size_t>(member)]; });
      CHECK(time >= Duration(0));
      for (int member = 0; member < members; ++member) CHECK(done[static_cast<std::size_t>(member)] == round);
    }
  }
  CHECK_FALSE(Team::make(2, 4711).has_value());
}

TEST_CASE("a meter measures every type, width and team") {
  auto meter = SumMeter::make({64_KiB, SumMeter::kMostSources, std::nullopt});
  REQUIRE(meter.has_value());
  CHECK((*meter)->memory() == 640_KiB);
  auto team = Team::make(3, std::nullopt);
  REQUIRE(team.has_value());
  for (const Dtype dtype : {Dtype::kF32, Dtype::kBf16, Dtype::kI64}) {
    for (const int sources : {1, 3, 8}) {
      const SumRate rate = (*meter)->measure(dtype, sources, **team, 2);
      CHECK(rate.dtype == dtype);
      CHECK(rate.sources == sources);
      CHECK(rate.threads == 3);
      CHECK(rate.rate > BytesPerSecond(0));
      CHECK(rate.limit > BytesPerSecond(0));
      CHECK(rate.share() > 0);
    }
  }
}

TEST_CASE("sizes that cannot be measured are errors with a remedy") {
  for (const Bytes size : {0_B, 100_B, Bytes(-64)}) {
    const auto meter = SumMeter::make({size, 1, std::nullopt});
    REQUIRE_FALSE(meter.has_value());
    CHECK_THAT(meter.error().text, has_text("try 64MiB"));
  }
  CHECK_FALSE(SumMeter::make({Bytes(INT64_MAX - 63), 8, std::nullopt}).has_value());
  CHECK_FALSE(SumMeter::make({1_MiB, 1, 4711}).has_value());
}

}  // namespace
}  // namespace weir::real
