// How long it takes to plan, to prove and to simulate, with the fluid engine and with SimGrid: BERT-Large on
// machines of eight V100 with NVLink, half as many CPU machines, the unified strategy in parts of 4 MB.
//
// usage: plan_and_simulate [GPU machines [CPU machines [iterations [most seconds [most MB]]]]]; without any,
// a table of growing clusters, the largest without SimGrid. Fails if planning, proving and simulating an
// iteration with SimGrid take more together, or the engines do not agree.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "backends/sim/world.h"
#include "benchmarks/stopwatch.h"
#include "core/base/units_text.h"
#include "core/cluster/topology_file.h"
#include "core/fluid/fluid_engine.h"
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
  bool simgrid = true;  // whether it is run too
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
  const auto end_of = [&](const Record& record) {
    Instant end;
    for (const Op& op : plan.ops()) end = std::max(end, record.of(op.id, iterations - 1).completed);
    return end - Instant();
  };
  FluidEngine engine(plan, cluster);
  const Stopwatch with_fluid;
  const Duration end = end_of(good(simulate(plan, cluster, settings, engine)));
  const double fluid = with_fluid.seconds();
  fmt::print("{:>4} {:>4} {:>9} {:>9} {:>8.2f} {:>8.2f} {:>8.2f} {:>10}", gpu_machines, cpu_machines,
             plan.ops().size(), proof.messages, planned, proved, fluid / iterations, rounded(peak_memory()));
  std::fflush(stdout);
  if (!most.simgrid) {
    fmt::print("{:>10} {:>12}\n", "", rounded(end / iterations));
    std::fflush(stdout);
    return true;
  }
  const Stopwatch with_simgrid;
  const Duration reference = end_of(good(sim::simulate(plan, cluster, settings)));
  const double simulated = with_simgrid.seconds();
  fmt::print("{:>10.2f} {:>12} {:>8.3f} %\n", simulated / iterations, rounded(reference / iterations),
             100 * (end / reference - 1));
  // Rounding decides what goes first of what ends at one instant, and so do schedules differ.
  const bool agree = std::abs(end / reference - 1) < 0.01;
  if (!agree) fmt::print("with SimGrid {}, with the fluid engine {}\n", text(reference), text(end));
  const double seconds = planned + proved + simulated / iterations;
  const double megabytes = static_cast<double>(peak_memory().count()) / 1e6;
  const bool within = seconds <= most.seconds && megabytes <= most.megabytes;
  if (!within) fmt::print("too much: at most {} s and {} MB\n", most.seconds, most.megabytes);
  std::fflush(stdout);
  return within && agree;
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
  fmt::print("{:>4} {:>4} {:>9} {:>9} {:>8} {:>8} {:>8} {:>10} {:>10} {:>12} {:>10}\n", "gpu", "cpu", "ops",
             "messages", "plan s", "prove s", "fluid s", "memory", "SimGrid s", "iteration", "fluid's");
  std::fflush(stdout);
  bool well = true;
  if (words.empty()) {
    constexpr int kMostInSimGrid = 128;
    for (const int machines : {8, 16, 32, 64, 128, 256}) {
      Most most;
      most.simgrid = machines <= kMostInSimGrid;
      well = measure_apart(machines, machines / 2, 1, most) && well;
    }
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
