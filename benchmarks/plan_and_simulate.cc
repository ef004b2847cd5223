// How long it takes to plan, to prove and to simulate (bert_large.h), with the fluid engine and with SimGrid.
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
#include "benchmarks/bert_large.h"
#include "benchmarks/stopwatch.h"
#include "core/base/units_text.h"
#include "core/fluid/fluid_engine.h"
#include "core/plan/proof.h"

namespace weir::benchmarks {
namespace {

struct Most {
  double seconds = 1e300;
  double megabytes = 1e300;
  bool simgrid = true;  // whether it is run too
};

// Whether it was within the limits.
bool measure(int gpu_machines, int cpu_machines, int iterations, const Most& most) {
  const BertLarge training(gpu_machines, cpu_machines);
  const Cluster& cluster = training.cluster();
  const Stopwatch planning;
  const Plan plan = training.plan();
  const double planned = planning.seconds();
  const Stopwatch proving;
  const Proof proof = good(prove(plan, cluster, training.workload()));
  const double proved = proving.seconds();
  const SimulationSettings settings = training.settings(iterations);
  FluidEngine engine(plan, cluster);
  const Stopwatch with_fluid;
  const Duration end = end_of(good(simulate(plan, cluster, settings, engine)), plan, iterations - 1);
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
  const Duration reference = end_of(good(sim::simulate(plan, cluster, settings)), plan, iterations - 1);
  const double simulated = with_simgrid.seconds();
  fmt::print("{:>10.2f} {:>12} {:>8.3f} %\n", simulated / iterations, rounded(reference / iterations),
             100 * (end / reference - 1));
  // Schedules of many machines are chaotic (engine_agreement.cc).
  const bool agree = std::abs(end / reference - 1) < 0.03;
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
