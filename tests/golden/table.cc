#include "tests/golden/table.h"

#include <algorithm>

#include "backends/sim/world.h"
#include "core/cluster/topology_file.h"
#include "core/report/report.h"
#include "core/strategies/strategy.h"

namespace weir::golden {
namespace {

using namespace weir::literals;

constexpr const char* kTopologies[] = {"toy-two-machines",   "one-gpu-90gbps",      "byteps-v100-pcie",
                                       "byteps-v100-nvlink", "cloud-20gbps",        "h200-nvlink",
                                       "mixed-rates",        "racks-oversubscribed"};

// Four layers of different sizes, 40 MB of gradients in two dtypes.
Trace model() {
  Trace trace;
  trace.name = "four layers";
  trace.layers = {{"embedding", 1_ms, 1_ms, {{"weight", 2'000'000, Dtype::kF16}}},
                  {"first", 2_ms, 4_ms, {{"weight", 1'000'000, Dtype::kF32}, {"bias", 1'001, Dtype::kF32}}},
                  {"second", 2_ms, 4_ms, {{"weight", 3'000'000, Dtype::kF32}, {"bias", 3'000, Dtype::kF32}}},
                  {"head", 1_ms, 2_ms, {{"weight", 5'000'000, Dtype::kF32}}}};
  return trace;
}

std::string row(const Strategy& strategy, const Cluster& cluster, const Workload& workload) {
  const Options options;
  const Result<Plan> plan = strategy.plan(cluster, workload, options);
  if (!plan) return plan.error().text;
  SimulationSettings settings;
  settings.dispatch = dispatch_of(strategy, options);
  settings.iterations = 3;
  const Result<Record> record = sim::simulate(*plan, cluster, settings);
  if (!record) return record.error().text;
  const Instant first = end_of(*plan, *record, 0);
  return fmt::format("{:>12} {:>12}", first.ns(), (end_of(*plan, *record, 2) - first).ns() / 2);
}

}  // namespace

std::string table() {
  const Trace trace = model();
  const Workload workload(trace);
  std::string text =
      fmt::format("{:<20} {:<13} {:>12} {:>12}\n", "topology", "strategy", "first ns", "later ns");
  for (const char* name : kTopologies) {
    const Result<Topology> topology =
        read_topology(fmt::format("{}/topologies/{}.json", WEIR_SOURCE_DIR, name));
    if (!topology) return topology.error().text;
    const Cluster cluster(*topology);
    for (const Strategy& strategy : strategies()) {
      text += fmt::format("{:<20} {:<13} {}\n", name, strategy.name, row(strategy, cluster, workload));
    }
  }
  return text;
}

std::string file() { return WEIR_SOURCE_DIR "/tests/golden/strategies.txt"; }

}  // namespace weir::golden
