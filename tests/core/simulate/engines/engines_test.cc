// Compares Weir's fluid engines with the toy's. The toy computes all rates from the definition at every
// change.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/base/random.h"
#include "core/simulate/engines/fluid_engines.h"
#include "core/simulate/engines/rough_engine.h"
#include "tests/catch.h"
#include "tests/toy/engine.h"

namespace weir {
namespace {

// Flows start in batches over a few links, some of which vary. When a flow ends, another starts. Half of the
// worlds have equal links and equal flows, so that many flows end at the same instant.
class Bustle {
 public:
  static constexpr std::uint32_t kChains = 40;  // of flows, each starting when the one before it ends
  static constexpr std::uint32_t kFlows = 6 * kChains;

  // `slowest`: rate of the slowest link in bytes per second. Links that vary may stop for a while.
  Bustle(std::uint64_t seed, double slowest) : random_(seed), even_(random_.uniform() < 0.5) {
    const std::int64_t links = random_.between(2, 30);
    for (std::int64_t i = 0; i < links; ++i) {
      const double rate = even_ ? 1e9 : slowest * std::pow(1e10 / slowest, random_.uniform());
      rates_.push_back(random_.uniform() < 0.3 ? 3 * rate : rate);
      varies_.push_back(random_.uniform() < 0.4);
    }
    for (int i = 0; i < 12; ++i) {
      Path path;
      for (std::int64_t link = 0; link < links; ++link) {
        if (random_.uniform() < 0.3)
          path.push_back({LinkId(static_cast<std::size_t>(link)), static_cast<int>(random_.between(1, 3))});
      }
      if (path.empty()) path.push_back({LinkId(0), 1});
      paths_.add(path);
    }
    binding_ = Binding(rates_, paths_, varies_);
  }

  const std::vector<double>& rates() const { return rates_; }
  const Binding& binding() const { return binding_; }

  // When each flow ends, in seconds.
  std::vector<double> ends(Engine& engine, double least_factor) const {
    REQUIRE(engine.set_paths(paths_, binding_));
    std::vector<double> ends(kFlows);
    const auto start = [&](std::uint32_t flow) {
      Random random = random_.split(flow);
      const auto path = static_cast<int>(random.between(0, static_cast<std::int64_t>(paths_.size()) - 1));
      engine.start_flow(flow, path, Bytes(even_ ? 1'000'000 : random.between(10'000, 2'000'000)));
    };
    const auto scale = [&](std::uint32_t turn) {
      Random random = random_.split(kFlows + turn);
      for (std::size_t link = 0; link < rates_.size(); ++link) {
        if (!varies_[link]) continue;
        const double factor = random.uniform() < 0.5 ? least_factor : random.uniform();
        engine.scale_link(LinkId(link), turn + 1 < kTurns ? factor : 1.0);
      }
    };
    const auto begin = [&] {
      for (std::uint32_t i = 0; i < kChains; ++i)
        engine.start_timer(kFlows + i, Duration(std::int64_t{1'000'000} * (i / 8)));
      for (std::uint32_t i = 0; i < kTurns; ++i)
        engine.start_timer(kFlows + kChains + i, Duration(std::int64_t{3'000'000} * i + 500'000));
    };
    const auto instant = [&](std::span<const std::uint32_t> ended) {
      for (const std::uint32_t id : ended) {
        if (id >= kFlows + kChains) {
          scale(id - kFlows - kChains);
        } else if (id >= kFlows) {
          start(id - kFlows);
        } else {
          ends[id] = engine.seconds();
          if (id + kChains < kFlows) start(id + kChains);
        }
      }
    };
    REQUIRE(engine.run(begin, instant));
    return ends;
  }

 private:
  static constexpr std::uint32_t kTurns = 20;

  Random random_;
  bool even_;
  std::vector<double> rates_;
  std::vector<bool> varies_;
  Paths paths_;
  Binding binding_;
};

TEST_CASE("flows end at the times that the definition of fairness gives") {
  std::size_t covered = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Bustle bustle(seed, 1e9);
    toy::ToyEngine oracle(bustle.rates());
    const std::vector<double> expected = bustle.ends(oracle, 0.1);
    for (const double precision : {0.0, 1e-9}) {
      INFO("seed " << seed << ", precision " << precision);
      const std::unique_ptr<Engine> engine = fluid_engine(bustle.rates(), precision);
      const std::vector<double> ends = bustle.ends(*engine, 0.1);
      double worst = 0.0;
      for (std::size_t i = 0; i < ends.size(); ++i)
        worst = std::max(worst, std::abs(ends[i] / expected[i] - 1));
      CHECK(worst < 1e-6);
    }
    covered += static_cast<std::size_t>(
        std::ranges::count_if(bustle.binding().covers, [](const auto& covers) { return !covers.empty(); }));
  }
  CHECK(covered > 100);
}

// Two flows end and a new one starts at the same instant. The second link stays as full as before, but its
// flows get other rates. The first link's flow must notice.
TEST_CASE(
    "a link notices that its flows get other rates elsewhere, even if the use of that link stays the same") {
  const std::vector<double> rates = {8.9e9, 6.3e9};
  const Paths paths{{{LinkId(0), 1}}, {{LinkId(0), 1}, {LinkId(1), 1}}};
  const Binding binding(rates, paths, {false, false});
  for (const double precision : {0.0, 1e-6, 1e-4, 1e-3}) {
    INFO(precision);
    const std::unique_ptr<Engine> engine = fluid_engine(rates, precision);
    REQUIRE(engine->set_paths(paths, binding));
    const auto begin = [&] {
      for (std::uint32_t i = 0; i < 3; ++i) engine->start_flow(i, 0, Bytes(890'000'000));
      for (std::uint32_t i = 3; i < 9; ++i) engine->start_flow(i, 1, Bytes(8'900'000'000));
      for (std::uint32_t i = 9; i < 11; ++i) engine->start_flow(i, 1, Bytes(1000));
    };
    double end = 0.0;
    const auto instant = [&](std::span<const std::uint32_t> ended) {
      for (const std::uint32_t id : ended) {
        if (id == 9) engine->start_flow(11, 1, Bytes(8'900'000'000));
        if (id == 0) end = engine->seconds();
      }
    };
    REQUIRE(engine->run(begin, instant));
    CHECK(std::abs(end - 1) < precision + 1e-5);
  }
}

TEST_CASE("links of very different rates that stand still do not keep a rough engine busy") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    INFO(seed);
    const Bustle bustle(seed, 1.0);
    RoughEngine engine(bustle.rates(), 1e-4);
    const std::vector<double> ends = bustle.ends(engine, 0.0);
    CHECK(std::ranges::all_of(ends, [](double end) { return end > 0.0; }));
  }
}

}  // namespace
}  // namespace weir
