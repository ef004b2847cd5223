// How long it takes to plan, to prove and to simulate: BERT-Large on machines of eight V100 with NVLink, half
// as many CPU machines, the unified strategy in parts of 4 MB.
//
// usage: plan_and_simulate [GPU machines [CPU machines [iterations [most seconds [most MB]]]]]; without any,
// a table of growing clusters. Fails if planning, proving and simulating an iteration take more together.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

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

struct Most {
  double seconds = 1e300;
  double megabytes = 1e300;
};

// Whether it was within the limits.
bool measure(int gpu_machines, int cpu_machines, int iterations, const Most& most) {
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
  settings.dispatch = dispatch_of(*strategy_named("unified").value(), options);
  settings.iterations = iterations;
  const Stopwatch simulating;
  const Record record = good(sim::simulate(plan, cluster, settings));
  const double simulated = simulating.seconds();
  Instant end;
  for (const Op& op : plan.ops()) end = std::max(end, record.of(op.id, iterations - 1).completed);
  fmt::print("{:>4} {:>4} {:>9} {:>9} {:>8.2f} {:>8.2f} {:>10.2f} {:>10} {:>12}\n", gpu_machines,
             cpu_machines, plan.ops().size(), proof.messages, planned, proved, simulated / iterations,
             rounded(peak_memory()), rounded((end - Instant()) / iterations));
  const double seconds = planned + proved + simulated / iterations;
  const double megabytes = static_cast<double>(peak_memory().count()) / 1e6;
  const bool within = seconds <= most.seconds && megabytes <= most.megabytes;
  if (!within) fmt::print("too much: at most {} s and {} MB\n", most.seconds, most.megabytes);
  std::fflush(stdout);
  return within;
}

// In a process of its own, as peak memory never falls.
bool measure_apart(int gpu_machines, int cpu_machines, int iterations, const Most& most = {}) {
  const pid_t child = fork();
  if (child == 0) std::_Exit(measure(gpu_machines, cpu_machines, iterations, most) ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

int main(const std::vector<std::string>& words) {
  const auto count = [&](std::size_t i, int otherwise) {
    return words.size() > i ? std::stoi(words[i]) : otherwise;
  };
  const auto limit = [&](std::size_t i) { return words.size() > i ? std::stod(words[i]) : 1e300; };
  fmt::print("{:>4} {:>4} {:>9} {:>9} {:>8} {:>8} {:>10} {:>10} {:>12}\n", "gpu", "cpu", "ops", "messages",
             "plan s", "prove s", "simulate s", "memory", "iteration");
  std::fflush(stdout);
  bool well = true;
  if (words.empty()) {
    for (const int machines : {8, 16, 32, 64, 128}) well = measure_apart(machines, machines / 2, 1) && well;
  } else {
    const int machines = count(0, 0);
    well = measure_apart(machines, count(1, machines / 2), count(2, 1), {limit(3), limit(4)});
  }
  return well ? 0 : 1;
}

}  // namespace
}  // namespace weir::benchmarks

int main(int count, char** values) {
  try {
    return weir::benchmarks::main({values + 1, values + count});
  } catch (const std::logic_error&) {  // of a word that is no number
    fmt::print(
        "weir_plan_and_simulate [GPU_MACHINES [CPU_MACHINES [ITERATIONS [MOST_SECONDS "
        "[MOST_MEGABYTES]]]]]\n");
    return 2;
  }
}
