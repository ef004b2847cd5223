// The core's own cost per op: nodes, ports, rendezvous, queues, the check of physics and the record, with an
// engine that does nothing. An op counts once in each iteration that runs it; a message is two ops.
//
// usage: core_overhead [ops [most ns per op]], 10^6 ops by default; fails if an op costs more
#include <fmt/format.h>

#include <cstdlib>

#include "benchmarks/null_engine.h"
#include "benchmarks/stopwatch.h"
#include "core/cluster/cluster.h"
#include "core/cluster/topology.h"
#include "core/simulate/simulation.h"
#include "core/strategies/strategy.h"

namespace weir::benchmarks {
namespace {

using namespace weir::literals;

Topology topology() {
  Topology topology;
  topology.name = "twelve machines";
  GroupSpec gpu;
  gpu.name = "gpu";
  gpu.count = 8;
  gpu.gpus = {{.at = "numa0", .rate = {12_GBps, 12_GBps}}};
  gpu.nics = {{.at = "numa0", .rate = {10_GBps, 10_GBps}}};
  GroupSpec cpu;
  cpu.name = "cpu";
  cpu.count = 4;
  cpu.nics = {{.at = "numa0", .rate = {10_GBps, 10_GBps}}};
  topology.groups = {gpu, cpu};
  return topology;
}

Trace trace() {
  Trace trace;
  trace.name = "ten layers";
  for (int layer = 0; layer < 10; ++layer) {
    trace.layers.push_back({fmt::format("{}", layer), 1_ms, 2_ms, {{"weight", 12'500'000, Dtype::kF32}}});
  }
  return trace;
}

double run(const Plan& plan, const Cluster& cluster, const Options& options, int iterations) {
  NullEngine engine;
  SimulationSettings settings;
  settings.dispatch = dispatch_of(*strategy_named("unified").value(), options);
  settings.iterations = iterations;
  const Stopwatch watch;
  const Result<Record> record = simulate(plan, cluster, settings, engine);
  WEIR_CHECK(record.has_value(), record ? std::string() : record.error().text);
  return watch.seconds();
}

int main(std::int64_t wanted, double most) {
  const Cluster cluster(topology());
  const Trace model = trace();
  const Workload workload(model);
  Options options;
  options.partition_size = options.finest_part = 4_MB;
  const Result<Plan> plan = strategy_named("unified").value()->plan(cluster, workload, options);
  WEIR_CHECK(plan.has_value());
  const auto ops = static_cast<std::int64_t>(plan->ops().size());
  const auto iterations = static_cast<int>(std::max<std::int64_t>(1, (wanted + ops - 1) / ops));
  run(*plan, cluster, options, 1);  // warms up code and memory
  const double one = run(*plan, cluster, options, 1);
  const double all = run(*plan, cluster, options, 1 + iterations);
  const auto counted = static_cast<double>(ops * iterations);
  const double each = 1e9 * (all - one) / counted;
  fmt::print(
      "plan of {} ops, {} iterations: {:.0f} ns per op; once per run {:.0f} ns per op of the plan more\n",
      ops, iterations, each, 1e9 * (one - (all - one) / iterations) / static_cast<double>(ops));
  if (each <= most) return 0;
  fmt::print(stderr, "too slow: at most {:.0f} ns per op\n", most);
  return 1;
}

}  // namespace
}  // namespace weir::benchmarks

int main(int count, char** values) {
  return weir::benchmarks::main(count > 1 ? std::atoll(values[1]) : 1'000'000,
                                count > 2 ? std::atof(values[2]) : 1e300);
}
