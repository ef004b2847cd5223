// How long it takes to plan, prove and simulate bert_large.h: with the fluid engine, to a precision of kRough
// and exactly, and with SimGrid.
//
// usage: plan_and_simulate [--json] [GPU machines [CPU machines [iterations [most seconds [most MB]]]]];
// without arguments, a table of growing clusters; with --json, objects for plots/cost.py instead of a table.
// Large clusters are not run with SimGrid, and the largest are neither proved nor simulated exactly. Fails if
// planning, proving and simulating an iteration with SimGrid (or else the fluid engine) take more together,
// or if the engines disagree.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "backends/sim/world.h"
#include "benchmarks/bert_large.h"
#include "benchmarks/stopwatch.h"
#include "core/base/units_text.h"
#include "core/plan/proof.h"
#include "core/simulate/engines/fluid_engine.h"
#include "core/simulate/engines/rough_engine.h"

namespace weir::benchmarks {
namespace {

constexpr double kRough = 1e-4;

// The seconds that simulation takes, and the time when the last op completed.
struct Simulated {
  double seconds;
  Duration end;
};

Simulated by_engine(const BertLarge& training, const Plan& plan, int iterations, Engine& engine) {
  const Stopwatch stopwatch;
  const Record record = good(simulate(plan, training.cluster(), training.settings(iterations), engine));
  return {stopwatch.seconds(), end_of(record, plan, iterations - 1)};
}

// The measurements of one cluster.
struct Row {
  int gpu_machines = 0;
  int cpu_machines = 0;
  std::size_t ops = 0;
  std::size_t messages = 0;
  double plan = 0.0;  // in seconds, as the following
  std::optional<double> prove;
  double rough = 0.0;
  std::optional<double> exact;
  std::optional<double> simgrid;
  Bytes memory;                     // without SimGrid's
  Duration iteration;               // by the exact engine, or else by the rough one
  std::optional<double> exact_off;  // relative difference from SimGrid's iteration
  std::optional<double> rough_off;
};

std::string text(const std::optional<double>& value, double scale, std::string_view unit, int digits) {
  return value ? fmt::format("{:.{}f}{}", *value * scale, digits, unit) : std::string();
}

void print_header() {
  fmt::print("{:>4} {:>4} {:>9} {:>9} {:>8}{:>10}{:>10}{:>10} {:>10} {:>12}{:>10} {:>10} {:>10}\n", "gpu",
             "cpu", "ops", "messages", "plan s", "prove s", "rough s", "exact s", "memory", "iteration",
             "SimGrid s", "exact's", "rough's");
  std::fflush(stdout);
}

void print_row(const Row& row) {
  fmt::print("{:>4} {:>4} {:>9} {:>9} {:>8.2f}{:>10}{:>10.2f}{:>10} {:>10} {:>12}{:>10} {:>10} {:>10}\n",
             row.gpu_machines, row.cpu_machines, row.ops, row.messages, row.plan, text(row.prove, 1, "", 2),
             row.rough, text(row.exact, 1, "", 2), rounded(row.memory), rounded(row.iteration),
             text(row.simgrid, 1, "", 2), text(row.exact_off, 100, " %", 3),
             text(row.rough_off, 100, " %", 3));
}

void print_json(const Row& row) {
  using nlohmann::ordered_json;
  const auto of = [](const std::optional<double>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
  };
  const ordered_json object = {{"gpu_machines", row.gpu_machines},
                               {"cpu_machines", row.cpu_machines},
                               {"ops", row.ops},
                               {"messages", row.messages},
                               {"precision", kRough},
                               {"plan_s", row.plan},
                               {"prove_s", of(row.prove)},
                               {"rough_s", row.rough},
                               {"exact_s", of(row.exact)},
                               {"simgrid_s", of(row.simgrid)},
                               {"memory_bytes", row.memory.count()},
                               {"iteration_ns", row.iteration.ns()},
                               {"exact_off", of(row.exact_off)},
                               {"rough_off", of(row.rough_off)}};
  fmt::print("{}\n", object.dump());
}

struct Most {
  double seconds;
  double megabytes;
  bool exact;    // whether the exact engine runs too, and the plan is proved
  bool simgrid;  // whether SimGrid runs too
  void (*print)(const Row& row);
};

// Whether the cluster was within the limits.
bool measure(int gpu_machines, int cpu_machines, int iterations, const Most& most) {
  const BertLarge training(gpu_machines, cpu_machines);
  const Cluster& cluster = training.cluster();
  Row row{.gpu_machines = gpu_machines, .cpu_machines = cpu_machines};
  const Stopwatch planning;
  const Plan plan = training.plan();
  row.plan = planning.seconds();
  row.ops = plan.ops().size();
  row.messages = plan.messages().size();
  const Stopwatch proving;
  if (most.exact) good(prove(plan, cluster, training.workload()));
  if (most.exact) row.prove = proving.seconds();
  RoughEngine rough_engine(plan, cluster, kRough);
  const Simulated rough = by_engine(training, plan, iterations, rough_engine);
  row.rough = rough.seconds / iterations;
  Duration end = rough.end;
  if (most.exact) {
    FluidEngine engine(plan, cluster);
    const Simulated exact = by_engine(training, plan, iterations, engine);
    row.exact = exact.seconds / iterations;
    end = exact.end;
  }
  row.memory = peak_memory();
  row.iteration = end / iterations;
  bool agree = true;
  if (most.simgrid) {
    const Stopwatch with_simgrid;
    const Record record = good(sim::simulate(plan, cluster, training.settings(iterations)));
    row.simgrid = with_simgrid.seconds() / iterations;
    const Duration reference = end_of(record, plan, iterations - 1);
    row.exact_off = end / reference - 1;
    row.rough_off = rough.end / reference - 1;
    // Schedules of many machines are chaotic (engine_agreement.cc).
    agree = std::abs(*row.exact_off) < 0.03;
    if (!agree) fmt::print("with SimGrid {}, with the fluid engine {}\n", text(reference), text(end));
  }
  most.print(row);
  const double seconds = row.plan + row.prove.value_or(0.0) + row.simgrid.value_or(row.rough);
  const double megabytes = static_cast<double>(peak_memory().count()) / 1e6;
  const bool within = seconds <= most.seconds && megabytes <= most.megabytes;
  if (!within) fmt::print("too much: at most {} s and {} MB\n", most.seconds, most.megabytes);
  std::fflush(stdout);
  return within && agree;
}

// Runs in its own process, since peak memory never falls.
bool measure_apart(int gpu_machines, int cpu_machines, int iterations, const Most& most) {
  const pid_t child = fork();
  if (child == 0) std::_Exit(measure(gpu_machines, cpu_machines, iterations, most) ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

int main(std::vector<std::string> words) {
  const bool json = !words.empty() && words.front() == "--json";
  if (json) words.erase(words.begin());
  const auto count = [&](std::size_t i, int otherwise) {
    return words.size() > i ? std::stoi(words[i]) : otherwise;
  };
  const auto limit = [&](std::size_t i) { return words.size() > i ? std::stod(words[i]) : 1e300; };
  if (!json) print_header();
  const auto within = [&](int machines) {
    constexpr int kMostInSimGrid = 128;
    constexpr int kMostExactly = 256;
    return measure_apart(machines, count(1, machines / 2), count(2, 1),
                         {limit(3), limit(4), machines <= kMostExactly, machines <= kMostInSimGrid,
                          json ? print_json : print_row});
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
  } catch (const std::logic_error&) {  // a word is not a number
    fmt::print(
        "weir_plan_and_simulate [--json] [GPU_MACHINES [CPU_MACHINES [ITERATIONS [MOST_SECONDS "
        "[MOST_MEGABYTES]]]]]\n");
    return 2;
  }
}
