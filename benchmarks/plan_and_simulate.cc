// How long it takes to plan, to prove and to simulate (bert_large.h), with the fluid engine, to a precision
// of kRough and exactly, and with SimGrid.
//
// usage: plan_and_simulate [GPU machines [CPU machines [iterations [most seconds [most MB]]]]]; without any,
// a table of growing clusters. Large ones are not run with SimGrid, and the largest neither proved nor
// simulated exactly. Fails if planning, proving and simulating an iteration with SimGrid (else with the fluid
// engine) take more together, or the engines do not agree.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "backends/sim/world.h"
#include "benchmarks/bert_large.h"
#include "benchmarks/stopwatch.h"
#include "core/base/units_text.h"
#include "core/fluid/fluid_engine.h"
#include "core/fluid/rough_engine.h"
#include "core/plan/proof.h"

namespace weir::benchmarks {
namespace {

constexpr double kRough = 0.005;

struct Most {
  double seconds;
  double megabytes;
  bool exact;    // whether that is run too, and the plan proved
  bool simgrid;  // whether it is run too
};

// Seconds that it takes to simulate, and when the last op completed.
struct Simulated {
  double seconds;
  Duration end;
};

Simulated by_engine(const BertLarge& training, const Plan& plan, int iterations, Engine& engine) {
  const Stopwatch stopwatch;
  const Record record = good(simulate(plan, training.cluster(), training.settings(iterations), engine));
  return {stopwatch.seconds(), end_of(record, plan, iterations - 1)};
}

std::string column(std::optional<double> seconds) {
  return fmt::format("{:>10}", seconds ? fmt::format("{:.2f}", *seconds) : std::string());
}

// Whether it was within the limits.
bool measure(int gpu_machines, int cpu_machines, int iterations, const Most& most) {
  const BertLarge training(gpu_machines, cpu_machines);
  const Cluster& cluster = training.cluster();
  const Stopwatch planning;
  const Plan plan = training.plan();
  const double planned = planning.seconds();
  const Stopwatch proving;
  if (most.exact) good(prove(plan, cluster, training.workload()));
  const double proved = proving.seconds();
  RoughEngine rough_engine(plan, cluster, kRough);
  const Simulated rough = by_engine(training, plan, iterations, rough_engine);
  std::optional<Simulated> exact;
  if (most.exact) {
    FluidEngine engine(plan, cluster);
    exact = by_engine(training, plan, iterations, engine);
  }
  const auto seconds_of = [&](double seconds) { return most.exact ? std::optional(seconds) : std::nullopt; };
  fmt::print("{:>4} {:>4} {:>9} {:>9} {:>8.2f}{}{}{} {:>10} {:>12}", gpu_machines, cpu_machines,
             plan.ops().size(), plan.messages().size(), planned, column(seconds_of(proved)),
             column(rough.seconds / iterations),
             column(exact ? std::optional(exact->seconds / iterations) : std::nullopt),
             rounded(peak_memory()), rounded((exact ? exact->end : rough.end) / iterations));
  std::fflush(stdout);
  double simulated = rough.seconds;
  bool agree = true;
  if (most.simgrid) {
    const Stopwatch with_simgrid;
    const Record record = good(sim::simulate(plan, cluster, training.settings(iterations)));
    simulated = with_simgrid.seconds();
    const Duration reference = end_of(record, plan, iterations - 1);
    fmt::print("{} {:>8.3f} % {:>8.3f} %", column(simulated / iterations), 100 * (exact->end / reference - 1),
               100 * (rough.end / reference - 1));
    // Schedules of many machines are chaotic (engine_agreement.cc).
    agree = std::abs(exact->end / reference - 1) < 0.03;
    if (!agree) fmt::print("\nwith SimGrid {}, with the fluid engine {}", text(reference), text(exact->end));
  }
  fmt::print("\n");
  const double seconds = planned + proved + simulated / iterations;
  const double megabytes = static_cast<double>(peak_memory().count()) / 1e6;
  const bool within = seconds <= most.seconds && megabytes <= most.megabytes;
  if (!within) fmt::print("too much: at most {} s and {} MB\n", most.seconds, most.megabytes);
  std::fflush(stdout);
  return within && agree;
}

// In a process of its own, as peak memory never falls.
bool measure_apart(int gpu_machines, int cpu_machines, int iterations, const Most& most) {
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
  fmt::print("{:>4} {:>4} {:>9} {:>9} {:>8}{:>10}{:>10}{:>10} {:>10} {:>12}{:>10} {:>10} {:>10}\n", "gpu",
             "cpu", "ops", "messages", "plan s", "prove s", "rough s", "exact s", "memory", "iteration",
             "SimGrid s", "exact's", "rough's");
  std::fflush(stdout);
  const auto within = [&](int machines) {
    constexpr int kMostInSimGrid = 128;
    constexpr int kMostExactly = 256;
    return measure_apart(machines, count(1, machines / 2), count(2, 1),
                         {limit(3), limit(4), machines <= kMostExactly, machines <= kMostInSimGrid});
  };
  if (!words.empty()) return within(count(0, 0)) ? 0 : 1;
  bool well = true;
  for (const int machines : {8, 16, 32, 64, 128, 256, 512, 1024}) well = within(machines) && well;
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
