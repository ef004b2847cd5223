// Whether the fluid engine and SimGrid agree on bert_large.h, where schedules are chaotic. When a flow's rate
// falls to a part of what it was, an error in its bytes becomes a longer error in time, until other messages
// go first. So one byte per second more or less changes an iteration of many machines by a percent, with
// either engine. Only means can agree.
//
// usage: engine_agreement [GPU machines [runs [precision [first [exact]]]]]; fails if the means of the
// iterations differ by more than chance and 0.1 %. In each run NICs are one byte per second faster than in
// the run before. In the first run they are `first` bytes per second faster than in the topology, so that
// several processes can divide the runs. With `exact` the exact fluid engine replaces SimGrid, which takes
// too long for the largest clusters.
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "backends/sim/world.h"
#include "benchmarks/bert_large.h"
#include "core/base/units_text.h"
#include "core/hardware/work.h"
#include "core/simulate/engines/fluid_engines.h"

namespace weir::benchmarks {
namespace {

struct Sample {
  std::vector<double> seconds;
  double mean() const {
    double sum = 0.0;
    for (const double value : seconds) sum += value;
    return sum / static_cast<double>(seconds.size());
  }
  // The squared standard error of the mean.
  double variance() const {
    const double center = mean();
    const auto n = static_cast<double>(seconds.size());
    double sum = 0.0;
    for (const double value : seconds) sum += (value - center) * (value - center);
    return sum / (n - 1.0) / n;
  }
  double spread() const {
    const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
    return *most / *least - 1.0;
  }
};

// Whether the engines agree.
bool measure(int gpu_machines, int runs, double precision, int first, bool exact) {
  Sample fluid;
  Sample oracle;
  for (int run = first; run < first + runs; ++run) {
    const BertLarge training(gpu_machines, gpu_machines / 2, run);
    const Plan plan = training.plan();
    const SimulationSettings settings = training.settings(1);
    const auto seconds = [&](double to) {
      const auto engine = fluid_engine(reached_rates(plan, training.cluster()), to);
      return end_of(good(simulate(plan, training.cluster(), settings, *engine)), plan, 0).seconds();
    };
    fluid.seconds.push_back(seconds(precision));
    oracle.seconds.push_back(
        exact ? seconds(0.0)
              : end_of(good(sim::simulate(plan, training.cluster(), settings)), plan, 0).seconds());
  }
  const double difference = fluid.mean() / oracle.mean() - 1.0;
  const double chance = std::sqrt(fluid.variance() + oracle.variance()) / oracle.mean();
  fmt::print("{:>4} {:>4} {:>5} {:>9.2f} ms {:>7.3f} % {:>9.2f} ms {:>7.3f} % {:>8.3f} % {:>7.3f} %\n",
             gpu_machines, gpu_machines / 2, runs, 1e3 * fluid.mean(), 100 * fluid.spread(),
             1e3 * oracle.mean(), 100 * oracle.spread(), 100 * difference, 100 * chance);
  std::fflush(stdout);
  return std::abs(difference) <= 0.001 + 3.0 * chance;
}

int main(const std::vector<std::string>& words) {
  const bool exact = words.size() > 4 && words[4] == "exact";
  fmt::print("{:>4} {:>4} {:>5} {:>12} {:>9} {:>12} {:>9} {:>10} {:>9}\n", "gpu", "cpu", "runs",
             "fluid engine", "spread", exact ? "exactly" : "SimGrid", "spread", "difference", "error");
  const int runs = words.size() > 1 ? std::stoi(words[1]) : 16;
  const double precision = words.size() > 2 ? std::stod(words[2]) : 0.0;
  const int first = words.size() > 3 ? std::stoi(words[3]) : 0;
  if (!words.empty()) return measure(std::stoi(words[0]), runs, precision, first, exact) ? 0 : 1;
  bool well = true;
  for (const int machines : {8, 16, 32, 48, 64})
    well = measure(machines, runs, precision, first, exact) && well;
  return well ? 0 : 1;
}

}  // namespace
}  // namespace weir::benchmarks

int main(int count, char** values) {
  try {
    return weir::benchmarks::main({values + 1, values + count});
  } catch (const std::logic_error&) {  // a word is not a number
    fmt::print("weir_engine_agreement [GPU_MACHINES [RUNS [PRECISION [FIRST [exact]]]]]\n");
    return 2;
  }
}
