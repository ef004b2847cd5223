#include "core/simulate/engines/rough_engine.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/random.h"
#include "core/simulate/engines/fair_rates.h"
#include "core/simulate/engines/fluid_engines.h"
#include "tests/catch.h"

namespace weir {
namespace {

constexpr std::uint32_t kRoughFlows = 2000;
constexpr std::size_t kLinks = 40;

// End times of many flows that start one after another. Each crosses two links of equal rate.
std::vector<double> ends(double precision) {
  const std::vector<double> rates(kLinks, 1e9);
  Paths paths;
  for (std::uint32_t from = 0; from < kLinks / 2; ++from) {
    for (std::uint32_t into = kLinks / 2; into < kLinks; ++into)
      paths.add(Path{{LinkId(from), 1}, {LinkId(into), 1}});
  }
  const Binding binding(rates, paths, std::vector<bool>(kLinks, false));
  const std::unique_ptr<Engine> engine = fluid_engine(rates, precision);
  REQUIRE(engine->set_paths(paths, binding));
  std::vector<double> ends(kRoughFlows);
  const auto begin = [&] {
    for (std::uint32_t i = 0; i < kRoughFlows; ++i)
      engine->start_timer(kRoughFlows + i, Duration(std::int64_t{2000} * i));
  };
  const auto instant = [&](std::span<const std::uint32_t> ended) {
    for (const std::uint32_t id : ended) {
      if (id < kRoughFlows) {
        ends[id] = engine->seconds();
        continue;
      }
      Random random = Random(1).split(id);
      const int path = static_cast<int>(random.between(0, static_cast<std::int64_t>(paths.size()) - 1));
      engine->start_flow(id - kRoughFlows, path, Bytes(random.between(50'000, 100'000)));
    }
  };
  REQUIRE(engine->run(begin, instant));
  return ends;
}

TEST_CASE("a rough engine's flows end about when an exact one's do") {
  const std::vector<double> exact = ends(0.0);
  for (const double precision : {1e-6, 1e-3, 1e-2}) {
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
    CHECK(worst < 4 * precision);
    CHECK(std::abs(sum / kRoughFlows) < precision / 5);
  }
}

// Links of many rates. Flows cross one to four of them with many weights.
struct Tangle {
  explicit Tangle(Random random) {
    for (std::size_t i = 0; i < kLinks; ++i) rates.push_back(1e9 * (0.2 + random.uniform()));
    for (int i = 0; i < 300; ++i) {
      Path path;
      for (std::uint32_t link = 0; link < kLinks; ++link) {
        if (random.uniform() < 0.05 && path.size() < 4)
          path.push_back({LinkId(link), static_cast<int>(random.between(1, 4))});
      }
      if (path.empty()) path.push_back({LinkId(static_cast<std::size_t>(i) % kLinks), 1});
      paths.add(path);
    }
    varies.assign(kLinks, false);
    for (std::size_t i = 0; i < kLinks; i += 4) varies[i] = true;
    binding = Binding(rates, paths, varies);
  }
  std::vector<double> rates;
  Paths paths;
  std::vector<bool> varies;
  Binding binding;
};

// Long flows with bytes for 1000 s at the rates that are fair among them alone. For the first millisecond
// other flows come and go, and links become slow and recover. The rates that remain result from a thousand
// changes.
TEST_CASE("after any number of changes rates are fair") {
  constexpr std::uint32_t kLong = 60;
  constexpr double kSeconds = 1000.0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    INFO(seed);
    const Tangle tangle{Random(seed)};
    constexpr double kPrecision = 1e-3;
    RoughEngine engine(tangle.rates, kPrecision);
    REQUIRE(engine.set_paths(tangle.paths, tangle.binding));
    Random random = Random(seed).split(1);
    const auto some_path = [&] {
      return static_cast<int>(random.between(0, static_cast<std::int64_t>(tangle.paths.size()) - 1));
    };
    std::vector<int> path(kLong);
    std::vector<PathView> views;
    for (int& each : path) views.push_back(tangle.paths[static_cast<std::size_t>(each = some_path())]);
    const std::vector<double> fair = fair_rates(tangle.rates, views);
    std::vector<double> ends(kLong);
    const auto begin = [&] {
      for (std::uint32_t i = 0; i < kLong; ++i)
        engine.start_flow(i, path[i], Bytes(std::llround(fair[i] * kSeconds)));
      for (std::uint32_t i = 0; i < kRoughFlows; ++i)
        engine.start_timer(kLong + kRoughFlows + i, Duration(std::int64_t{500} * i));
    };
    const auto instant = [&](std::span<const std::uint32_t> ended) {
      for (const std::uint32_t id : ended) {
        if (id < kLong) ends[id] = engine.seconds();
        if (id < kLong + kRoughFlows) continue;
        engine.start_flow(id - kRoughFlows, some_path(), Bytes(random.between(1'000, 500'000)));
        const auto slow = static_cast<std::size_t>(random.between(0, kLinks / 4 - 1)) * 4;
        const bool last = id >= kLong + 2 * kRoughFlows - 100;
        engine.scale_link(LinkId(last ? (id % (kLinks / 4)) * 4 : slow), last ? 1.0 : random.uniform());
      }
    };
    REQUIRE(engine.run(begin, instant));
    double worst = 0.0;
    for (const double end : ends) worst = std::max(worst, std::abs(end / kSeconds - 1));
    CHECK(worst < 10 * kPrecision);
  }
}

// 40 flows of different sizes and as many timers, over one link.
TEST_CASE("a rough engine predicts what ends next") {
  constexpr std::uint32_t kEach = 40;
  const Paths paths{{{LinkId(0), 1}}};
  RoughEngine engine({1e9}, 1e-4);
  const Binding binding({1e9}, paths, {false});
  REQUIRE(engine.set_paths(paths, binding));
  const auto begin = [&] {
    for (std::uint32_t i = 0; i < kEach; ++i) {
      engine.start_flow(i, 0, Bytes(1'000'000 + 10'000 * i * i));
      engine.start_timer(kEach + i, Duration(std::int64_t{700'000} * (i + 1)));
    }
  };
  std::optional<std::uint32_t> predicted;
  std::size_t instants = 0;
  const auto instant = [&](std::span<const std::uint32_t> ended) {
    if (++instants > 1) {
      REQUIRE(predicted.has_value());
      CHECK(std::ranges::count(ended, *predicted) == 1);
    }
    predicted = engine.coming();
  };
  REQUIRE(engine.run(begin, instant));
  CHECK(instants > kEach);
  CHECK(!predicted);
}

TEST_CASE("a rough engine's flows over a link that is down wait for it") {
  const std::vector<double> rates = {1e9, 1e9};
  const Paths paths{{{LinkId(0), 1}}, {{LinkId(0), 1}, {LinkId(1), 2}}};
  RoughEngine engine(rates, 0.01);
  const Binding binding(rates, paths, {true, true});
  REQUIRE(engine.set_paths(paths, binding));
  std::vector<double> ends(2);
  const auto begin = [&] {
    engine.start_flow(0, 0, Bytes(1'000'000));
    engine.start_flow(1, 1, Bytes(1'000'000));
    engine.scale_link(LinkId(1), 0.0);
    engine.start_timer(2, Duration(5'000'000));
  };
  const auto instant = [&](std::span<const std::uint32_t> ended) {
    for (const std::uint32_t id : ended) {
      if (id == 2) engine.scale_link(LinkId(1), 0.5);
      if (id < 2) ends[id] = engine.seconds();
    }
  };
  REQUIRE(engine.run(begin, instant));
  CHECK(std::abs(ends[0] / 1e-3 - 1) < 0.02);
  CHECK(std::abs(ends[1] / 9e-3 - 1) < 0.02);
}

}  // namespace
}  // namespace weir
