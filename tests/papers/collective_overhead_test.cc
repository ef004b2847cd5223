// How much collectives slow computing down, on SimGrid and on the fluid engine.
#include <fmt/format.h>

#include "backends/sim/world.h"
#include "core/report/report.h"
#include "core/simulate/engines/fluid_engines.h"
#include "core/strategies/strategy.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

Cluster machines_of(int gpus) {
  return cluster_of(fmt::format(R"({{"name": "two machines", "groups": [
    {{"name": "gpu", "count": 2, "gpus": [{{"count": {}, "at": "numa0"}}], "nvlink": {{"switch": {{"rate": "100GB/s"}}}},
      "nics": [{{"at": "numa0", "rate": "1GB/s"}}]}}]}})",
                                gpus));
}

// The second layer has two parts, of 4 MB and less. The third layer computes nothing.
Trace three_layers() {
  Trace trace;
  trace.name = "three layers";
  trace.layers = {{"a", 10_ms, 20_ms, {{"a", 1000, Dtype::kF32}}},
                  {"b", 10_ms, 20_ms, {{"b", 1'500'000, Dtype::kF32}}},
                  {"c", Duration(0), Duration(0), {{"c", 1000, Dtype::kF32}}}};
  return trace;
}

Report run(int gpus, Duration overhead, bool by_simgrid) {
  const Cluster cluster = machines_of(gpus);
  const Trace of = three_layers();
  const Workload workload(of);
  Options options;
  options.partition_size = options.finest_part = 4_MB;
  const Result<Plan> plan = strategy_named("unified").value()->plan(cluster, workload, options);
  REQUIRE(plan);
  SimulationSettings settings;
  settings.iterations = 2;
  settings.model.collective_overhead = overhead;
  const auto engine = fluid_engine(reached_rates(*plan, cluster), 0.0);
  const Result<Record> record =
      by_simgrid ? sim::simulate(*plan, cluster, settings) : simulate(*plan, cluster, settings, *engine);
  REQUIRE(record);
  for (const Op& op : plan->ops()) {
    const auto& times = record->of(op.id, 1);
    CHECK(times.submitted <= times.started);
    CHECK(times.started <= times.completed);
  }
  return report(*plan, cluster, workload, *record, 1);
}

TEST_CASE("each collective takes its time from computing, there and back") {
  for (const bool by_simgrid : {true, false}) {
    const Report without = run(2, Duration(0), by_simgrid);
    const Report with = run(2, 100_us, by_simgrid);
    CHECK(with.iteration == without.iteration + 100_us * 8);  // four parts, each reduced and gathered
    CHECK(with.compute == 60_ms);                             // the overhead counts as communication
    CHECK(run(1, 100_us, by_simgrid).iteration == run(1, Duration(0), by_simgrid).iteration);
  }
}

}  // namespace
}  // namespace weir
