#include "core/simulate/engines/fluid_engine.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/base/random.h"
#include "core/simulate/engines/fluid_engines.h"
#include "tests/catch.h"

namespace weir {
namespace {

constexpr std::uint32_t kFlows = 2000;

// Machines whose memory limits rates only while they send, receive and sum at the same time.
struct Memories {
  static constexpr std::uint32_t kMachines = 6;

  Memories() {
    const auto id = [](std::uint32_t machine, std::uint32_t link) { return LinkId(4 * machine + link); };
    for (std::uint32_t i = 0; i < kMachines; ++i) {
      rates.insert(rates.end(), {10e9, 10e9, 20e9, 75e9});  // out, in, cores, memory
      paths.add(Path{{id(i, 2), 1}, {id(i, 3), 3}});
      for (std::uint32_t j = 0; j < kMachines; ++j) {
        if (i < j) paths.add(Path{{id(i, 0), 1}, {id(i, 3), 1}, {id(j, 1), 1}, {id(j, 3), 1}});
        if (i > j) paths.add(Path{{id(j, 1), 1}, {id(j, 3), 1}, {id(i, 0), 1}, {id(i, 3), 1}});
      }
    }
    binding = Binding(rates, paths, std::vector<bool>(rates.size(), false));
  }

  std::vector<double> ends(const Binding& known, double precision) const {
    const std::unique_ptr<Engine> engine = fluid_engine(rates, precision);
    REQUIRE(engine->set_paths(paths, known));
    std::vector<double> ends(kFlows);
    const auto begin = [&] {
      for (std::uint32_t i = 0; i < kFlows; ++i)
        engine->start_timer(kFlows + i, Duration(std::int64_t{900} * i));
    };
    const auto instant = [&](std::span<const std::uint32_t> ended) {
      for (const std::uint32_t id : ended) {
        if (id < kFlows) {
          ends[id] = engine->seconds();
          continue;
        }
        Random random = Random(3).split(id);
        const int path = static_cast<int>(random.between(0, static_cast<std::int64_t>(paths.size()) - 1));
        engine->start_flow(id - kFlows, path, Bytes(random.between(20'000, 80'000)));
      }
    };
    REQUIRE(engine->run(begin, instant));
    return ends;
  }

  std::vector<double> rates;
  Paths paths;
  Binding binding;
};

TEST_CASE("links that cannot bind for now make no difference while they are left out") {
  const Memories memories;
  CHECK(memories.binding.covers[3].size() == 3);
  Binding always = memories.binding;  // as if any link could be the bottleneck at any time
  always.covers.assign(memories.rates.size(), {});
  Binding never = always;  // as if memory never were
  for (std::uint32_t i = 0; i < Memories::kMachines; ++i) never.never[4 * i + 3] = true;
  const std::vector<double> followed = memories.ends(memories.binding, 0.0);
  const std::vector<double> expected = memories.ends(always, 0.0);
  double worst = 0.0;
  for (std::size_t i = 0; i < followed.size(); ++i)
    worst = std::max(worst, std::abs(followed[i] - expected[i]) / expected[i]);
  CHECK(worst < 1e-9);
  CHECK(memories.ends(never, 0.0) != expected);  // memory does limit rates
  const std::vector<double> rough = memories.ends(memories.binding, 1e-3);
  for (std::size_t i = 0; i < rough.size(); ++i) CHECK(std::abs(rough[i] / expected[i] - 1) < 1e-2);
}

}  // namespace
}  // namespace weir
