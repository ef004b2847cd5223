// How long it takes to plan, to prove and to simulate: BERT-Large on machines of eight V100 with NVLink, half
// as many CPU machines, the unified strategy in parts of 4 MB.
//
// usage: plan_and_simulate [GPU machines [CPU machines [iterations]]]; without any, a table of growing
// clusters.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "backends/sim/world.h"
#include "benchmarks/stopwatch.h"
#include "core/base/units_text.h"
#include "core/cluster/topology_file.h"
#include "core/plan/proof.h"
#include "core/strategies/strategy.h"
#include "core/workload/trace_file.h"

namespace weir::benchmarks {
namespace {

using namespace weir::literals;

template <class T>
T good(Result<T> result) {
  WEIR_CHECK(result.has_value(), result ? std::string() : result.error().text);
  return std::move(*result);
}

void measure(int gpu_machines, int cpu_machines, int iterations) {
  const std::string folder = WEIR_SOURCE_DIR;
  Topology topology = good(read_topology(folder + "/topologies/byteps-v100-nvlink.json"));
  topology.groups[0].count = gpu_machines;
  topology.groups[1].count = cpu_machines;
  const Cluster cluster(topology);
  const Trace trace = good(read_trace(folder + "/traces/bert-large.json"));
  const Workload workload(trace);
  Options options;
  options.partition_size = options.finest_part = 4_MB;
  options.local = LocalStage::kReduce;

  const Stopwatch planning;
  const Plan plan = good(good(strategy_named("unified"))->plan(cluster, workload, options));
  const double planned = planning.seconds();
  const Stopwatch proving;
  const Proof proof = good(prove(plan, cluster, workload));
  const double proved = proving.seconds();
  SimulationSettings settings;
  settings.dispatch = dispatch_of(options);
  settings.iterations = iterations;
  const Stopwatch simulating;
  const Record record = good(sim::simulate(plan, cluster, settings));
  const double simulated = simulating.seconds();
  Instant end;
  for (const Op& op : plan.ops()) end = std::max(end, record.of(op.id, iterations - 1).completed);
  fmt::print("{:>4} {:>4} {:>9} {:>9} {:>8.2f} {:>8.2f} {:>10.2f} {:>10} {:>12}\n", gpu_machines,
             cpu_machines, plan.ops().size(), proof.messages, planned, proved, simulated / iterations,
             rounded(peak_memory()), rounded((end - Instant()) / iterations));
  std::fflush(stdout);
}

// In a process of its own, as peak memory never falls.
void measure_apart(int gpu_machines, int cpu_machines, int iterations) {
  const pid_t child = fork();
  if (child == 0) {
    measure(gpu_machines, cpu_machines, iterations);
    std::_Exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  WEIR_CHECK(status == 0, status);
}

int main(const std::vector<int>& counts) {
  fmt::print("{:>4} {:>4} {:>9} {:>9} {:>8} {:>8} {:>10} {:>10} {:>12}\n", "gpu", "cpu", "ops", "messages",
             "plan s", "prove s", "simulate s", "memory", "iteration");
  std::fflush(stdout);
  if (counts.empty()) {
    for (const int machines : {8, 16, 32, 64, 128}) measure_apart(machines, machines / 2, 1);
  } else {
    measure_apart(counts[0], counts.size() > 1 ? counts[1] : counts[0] / 2,
                  counts.size() > 2 ? counts[2] : 1);
  }
  return 0;
}

}  // namespace
}  // namespace weir::benchmarks

int main(int count, char** values) {
  std::vector<int> counts;
  for (int i = 1; i < count; ++i) counts.push_back(std::atoi(values[i]));
  return weir::benchmarks::main(counts);
}
