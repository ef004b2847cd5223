// Checks in SimGrid what BytePS (OSDI'20, section 4.2) says about transfers between GPUs and host memory.
#include <algorithm>
#include <map>

#include "backends/sim/world.h"
#include "core/analysis/local_choice.h"
#include "core/report/report.h"
#include "core/strategies/strategy.h"
#include "core/workload/trace_file.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

struct StageOutcome {
  Duration iteration;
  std::vector<LinkLoad> links;
};

const Trace& one_gigabyte() {
  static const Trace trace = *read_trace(std::string(WEIR_SOURCE_DIR "/traces/large-tensors.json"));
  return trace;
}

StageOutcome simulated(std::string_view strategy, const Topology& topology, const Options& options) {
  const Cluster cluster(topology);
  const Workload workload(one_gigabyte());
  const Strategy& named = **strategy_named(strategy);
  const Result<Plan> plan = named.plan(cluster, workload, options);
  REQUIRE(plan);
  SimulationSettings settings;
  settings.dispatch = dispatch_of(named, options);
  const Result<Record> record = sim::simulate(*plan, cluster, settings);
  REQUIRE(record);
  const Report summary = report(*plan, cluster, workload, *record, 0);
  return {summary.first, summary.links};
}

// Bytes over the link, as a fraction of the size of the model.
double load(const StageOutcome& outcome, const Topology& topology, std::string_view link) {
  const Cluster cluster(topology);
  for (const LinkLoad& found : outcome.links) {
    if (cluster.link(found.link).name == link) return static_cast<double>(found.bytes.count()) / 1e9;
  }
  return 0.0;
}

Options with(LocalStage stage) {
  Options options;
  options.local = stage;
  return options;
}

// Time of the busiest link, relative to the time of the whole model at 105 Gbps.
double busiest(const StageOutcome& outcome, const Topology& topology) {
  const Cluster cluster(topology);
  Duration most;
  for (const LinkLoad& found : outcome.links)
    most = std::max(most, found.bytes / cluster.link(found.link).rate);
  return most.seconds() / (1e9 / (105e9 / 8));
}

TEST_CASE("the CPU's help relieves the links between switches and CPU, and makes up for slow peers",
          "[local]") {
  Topology topology = shipped_topology("byteps-v100-pcie");
  topology.groups.resize(1);
  topology.groups[0].count = 1;
  const StageOutcome flat = simulated("flat-ring", topology, Options());
  const StageOutcome assisted = simulated("unified", topology, with(LocalStage::kCpuAssisted));
  CHECK(load(flat, topology, "gpu[0].p0.up") == Approx(7.0 / 4).epsilon(0.001));
  CHECK(load(assisted, topology, "gpu[0].p0.up") == Approx(1.0).epsilon(0.001));
  for (const StageOutcome* outcome : {&flat, &assisted}) {
    CHECK(load(*outcome, topology, "gpu[0].gpu1.up") == Approx(7.0 / 4).epsilon(0.001));
  }
  CHECK(busiest(assisted, topology) / busiest(flat, topology) == Approx(80.0 / 105).epsilon(0.001));
  CHECK(assisted.iteration / flat.iteration == Approx(0.762).epsilon(0.01));
}

// Eq. 8 and 9 with 4 GPUs under each of 2 switches. All links have one rate, and nothing else limits. At one
// fifth, all links are always busy. Parts are small, because the last one has the links to itself.
TEST_CASE("a fifth copied by brute force is best where all links are equal", "[local]") {
  const Topology topology = topology_of(R"({"name": "equal links", "groups": [
    {"name": "gpu", "numa": [{}, {}], "sockets": [{"between": [0, 1]}],
     "switches": [{"name": "p0", "at": "numa0", "rate": "105Gbps"}, {"name": "p1", "at": "numa1", "rate": "105Gbps"}],
     "gpus": [{"count": 4, "at": "p0", "rate": "105Gbps"}, {"count": 4, "at": "p1", "rate": "105Gbps"}]}]})");
  std::map<double, double> times;  // by fraction
  for (const double x : {0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.5}) {
    Options options = with(LocalStage::kCpuAssisted);
    options.brute_force = x;
    options.partition_size = 1_MB;
    const StageOutcome outcome = simulated("unified", topology, options);
    const double bound = std::max(7.0 / 4 * (1 - x) + x, 4 * x + (1 - x));
    times[x] = outcome.iteration.seconds() / (1e9 / (105e9 / 8));
    CAPTURE(x, times[x], bound);
    CHECK(busiest(outcome, topology) == Approx(bound).epsilon(0.002));
    CHECK(times[x] < 1.02 * bound);
  }
  for (const auto& [x, time] : times) CHECK(time >= times[0.2]);
  CHECK(times[0.0] / times[0.2] == Approx(1.094).epsilon(0.01));
}

TEST_CASE("auto is never slower than the best local stage by more than 2 percent", "[local]") {
  for (const char* name : {"byteps-v100-pcie", "byteps-v100-nvlink", "cloud-v100-25gbps", "h200-nvlink"}) {
    Topology topology = shipped_topology(name);
    for (GroupSpec& group : topology.groups) group.count = group.gpus.empty() ? 2 : 3;
    const Cluster cluster(topology);
    const double chosen = simulated("unified", topology, with(LocalStage::kAuto)).iteration.seconds();
    for (const LocalStage stage : {LocalStage::kReduceScatter, LocalStage::kReduce, LocalStage::kReduceInTurn,
                                   LocalStage::kCpuAssisted, LocalStage::kGpuDirect}) {
      if (!choose_local(cluster, Dtype::kF32, with(stage))) continue;
      CAPTURE(name, enum_name(stage), chosen);
      CHECK(chosen <= 1.02 * simulated("unified", topology, with(stage)).iteration.seconds());
    }
  }
}

}  // namespace
}  // namespace weir
