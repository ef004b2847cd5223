#include "core/simulate/network.h"

#include "core/hardware/work.h"
#include "core/simulate/engines/fluid_engine.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

// A machine whose cores sum f32 at 4 GB/s and f16 at 2 GB/s.
struct Shared {
  Shared()
      : cluster(cluster_of(R"({"name": "one", "groups": [{"name": "cpu", "count": 1,
          "numa": [{"memory_rate": "90GB/s", "sum_rate": {"f32": "4GB/s", "f16": "2GB/s"}}],
          "nics": [{"at": "numa0", "rate": "1GB/s"}]}]})")) {
    for (const Link& link : cluster.links()) rates.push_back(static_cast<double>(link.rate.value()));
    const Numa& numa = cluster.machine(MachineId(0)).numas[0];
    single = {{numa.sum_link(Dtype::kF32), 1}};
    half = {{numa.sum_link(Dtype::kF16), 1}};
  }

  Cluster cluster;
  std::vector<double> rates;
  Path single;
  Path half;
};

TEST_CASE("cores need sharing only if several jobs sum on them") {
  const Shared shared;
  for (const auto& [by_job, steady] : std::vector<std::pair<std::vector<Paths>, bool>>{
           {{Paths{shared.single}}, true}, {{Paths{shared.single}, Paths{shared.single}}, false}}) {
    FluidEngine engine(shared.rates);
    Network network(shared.cluster, {}, shared.rates, engine);
    REQUIRE(network.set_paths(by_job));
    CHECK(network.steady(0) == steady);
  }
}

TEST_CASE("cores sum at several rates for one job, not for several jobs") {
  const Shared shared;
  for (const auto& [by_job, fair] : std::vector<std::pair<std::vector<Paths>, bool>>{
           {{Paths{shared.single, shared.half}}, true},
           {{Paths{shared.single, shared.half}, Paths()}, true},
           {{Paths{shared.single}, Paths{shared.half}}, false},
           {{Paths{shared.single, shared.half}, Paths{shared.single}}, false}}) {
    FluidEngine engine(shared.rates);
    Network network(shared.cluster, {}, shared.rates, engine);
    const Result<void> set = network.set_paths(by_job);
    CHECK(set.has_value() == fair);
    if (!set) CHECK(set.error().text.find("on the cores of cpu[0].numa0") != std::string::npos);
  }
}

TEST_CASE("the network's physics adds up what all jobs carry") {
  const Shared shared;
  const LinkId out = shared.cluster.machine(MachineId(0)).nics[0].out;
  const Path path = {{out, 1}};
  for (const double twice : {1.0, 2.0}) {  // the engine assumes the NIC this many times as fast
    std::vector<double> believed = shared.rates;
    believed[out.index()] *= twice;
    FluidEngine engine(believed);
    Network network(shared.cluster, {}, shared.rates, engine);
    REQUIRE(network.set_paths({Paths{path}, Paths{path}}));
    const auto run = engine.run(
        [&] {
          for (const int job : {0, 1})
            network.start({static_cast<std::uint32_t>(job), job, true}, 1_MB, Duration(0));
        },
        [&](std::span<const std::uint32_t> ended) {
          for (const std::uint32_t job : ended) network.end({job, static_cast<int>(job), true}, 1_MB);
        });
    REQUIRE(run);
    CHECK(network.verdict().has_value() == (twice == 1.0));
  }
}

}  // namespace
}  // namespace weir
