// The time saved by folding machines that all do the same (core/simulate/folding.h): GPT-2 on machines of
// eight V100 with NVLink, one flat ring over all GPUs, with the exact fluid engine.
//
// usage: folding [machines [iterations]]; without arguments, a table of growing clusters. Fails if a run
// cannot be folded, or if its times differ from the whole run's by a nanosecond.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmarks/bert_large.h"
#include "benchmarks/stopwatch.h"
#include "core/base/units_text.h"
#include "core/simulate/engines/fluid_engine.h"

namespace weir::benchmarks {
namespace {

// Whether both runs are equal.
bool measure(int machines, int iterations) {
  const std::string folder = WEIR_SOURCE_DIR;
  Topology topology = good(read_topology(folder + "/topologies/byteps-v100-nvlink.json"));
  topology.groups[0].count = machines;
  const Cluster cluster(topology);
  const Trace trace = good(read_trace(folder + "/traces/gpt-2.json"));
  const Workload workload(trace);
  const Strategy& strategy = *good(strategy_named("flat-ring"));
  const Options options;
  const Plan plan = good(strategy.plan(cluster, workload, options));
  const WorkTable works(plan, cluster);
  const Subcluster all(cluster);
  const Job job{plan, all, dispatch_of(strategy, options), {}, {}, &works};

  const Stopwatch stopwatch;
  const auto folded = simulate_folded(cluster, job, iterations, {});
  const double folded_seconds = stopwatch.seconds();
  const Stopwatch other;
  FluidEngine engine(reached_rates(cluster, {&job, 1}));
  const SharedRun whole = good(simulate(cluster, {&job, 1}, iterations, {}, engine));
  const double whole_seconds = other.seconds();
  const bool same = folded && folded->record == whole.record;
  fmt::print("{:>8} {:>9} {:>10} {:>9.3f} {:>9.3f} {:>6.1f}  {}\n", machines, plan.ops().size(), iterations,
             whole_seconds, folded_seconds, whole_seconds / folded_seconds,
             same ? "the same" : "NOT THE SAME");
  std::fflush(stdout);
  return same;
}

int main(const std::vector<std::string>& words) {
  fmt::print("{:>8} {:>9} {:>10} {:>9} {:>9} {:>6}\n", "machines", "ops", "iterations", "whole (s)",
             "folded (s)", "ratio");
  const int iterations = words.size() > 1 ? std::stoi(words[1]) : 10;
  if (!words.empty()) return measure(std::stoi(words[0]), iterations) ? 0 : 1;
  bool well = true;
  for (const int machines : {4, 8, 16, 32}) well = measure(machines, iterations) && well;
  return well ? 0 : 1;
}

}  // namespace
}  // namespace weir::benchmarks

int main(int count, char** values) {
  try {
    return weir::benchmarks::main({values + 1, values + count});
  } catch (const std::logic_error&) {  // a word is not a number
    fmt::print("weir_folding [MACHINES [ITERATIONS]]\n");
    return 2;
  }
}
