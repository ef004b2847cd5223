#include "core/fluid/fluid_engine.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/base/random.h"
#include "tests/catch.h"

namespace weir {
namespace {

constexpr std::uint32_t kFlows = 2000;
constexpr std::size_t kLinks = 40;

// When each of many flows ends that come one after the other, each over two links of one rate.
std::vector<double> ends(double precision) {
  FluidEngine engine(std::vector<double>(kLinks, 1e9), precision);
  Paths paths;
  for (std::uint32_t from = 0; from < kLinks / 2; ++from) {
    for (std::uint32_t into = kLinks / 2; into < kLinks; ++into)
      paths.add(Path{{LinkId(from), 1}, {LinkId(into), 1}});
  }
  REQUIRE(engine.set_paths(paths, std::vector<bool>(kLinks, false)));
  std::vector<double> ends(kFlows);
  const auto begin = [&] {
    for (std::uint32_t i = 0; i < kFlows; ++i) engine.start_timer(kFlows + i, Duration(2000 * i));
  };
  const auto instant = [&](std::span<const std::uint32_t> ended) {
    for (const std::uint32_t id : ended) {
      if (id < kFlows) {
        ends[id] = engine.seconds();
        continue;
      }
      Random random = Random(1).split(id);
      const int path = static_cast<int>(random.between(0, static_cast<std::int64_t>(paths.size()) - 1));
      engine.start_flow(id - kFlows, path, Bytes(random.between(50'000, 100'000)));
    }
  };
  REQUIRE(engine.run(begin, instant));
  return ends;
}

TEST_CASE("a rough engine's flows end about when an exact one's do") {
  const std::vector<double> exact = ends(0.0);
  for (const double precision : {1e-3, 1e-2}) {
    INFO(precision);
    const std::vector<double> rough = ends(precision);
    double worst = 0.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double began = 2e-6 * static_cast<double>(i);
      const double off = (rough[i] - began) / (exact[i] - began) - 1;
      worst = std::max(worst, std::abs(off));
      sum += off;
    }
    CHECK(worst > 0.0);
    CHECK(worst < 3 * precision);
    CHECK(std::abs(sum / kFlows) < precision / 5);
  }
}

}  // namespace
}  // namespace weir
