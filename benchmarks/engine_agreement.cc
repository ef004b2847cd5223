// Whether the fluid engine and SimGrid agree (bert_large.h), where schedules are chaotic: as a flow's rate
// falls to a part of what it was, an error in its bytes becomes a longer one in time, until other messages go
// first. So a byte per second more or less changes an iteration of many machines by a percent, with either
// engine; what can agree are the means.
//
// usage: engine_agreement [GPU machines [runs [precision [first]]]]; fails if the means of the iterations,
// each of NICs a byte per second faster than those before, differ by more than chance and 0.1 %. Those of the
// first run are `first` bytes per second faster than in the topology, so that many processes can share the
// runs.
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "backends/sim/world.h"
#include "benchmarks/bert_large.h"
#include "core/base/units_text.h"
#include "core/fluid/rough_engine.h"
#include "core/fluid/work.h"

namespace weir::benchmarks {
namespace {

struct Sample {
  std::vector<double> seconds;
  double mean() const {
    double sum = 0.0;
    for (const double value : seconds) sum += value;
    return sum / static_cast<double>(seconds.size());
  }
  // Of the mean, squared.
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
bool measure(int gpu_machines, int runs, double precision, int first) {
  Sample fluid;
  Sample simgrid;
  for (int run = first; run < first + runs; ++run) {
    const BertLarge training(gpu_machines, gpu_machines / 2, run);
    const Plan plan = training.plan();
    const SimulationSettings settings = training.settings(1);
    const auto engine = fluid_engine(reached_rates(plan, training.cluster()), precision);
    const auto ours = good(simulate(plan, training.cluster(), settings, *engine));
    fluid.seconds.push_back(end_of(ours, plan, 0).seconds());
    const auto theirs = good(sim::simulate(plan, training.cluster(), settings));
    simgrid.seconds.push_back(end_of(theirs, plan, 0).seconds());
  }
  const double difference = fluid.mean() / simgrid.mean() - 1.0;
  const double chance = std::sqrt(fluid.variance() + simgrid.variance()) / simgrid.mean();
  fmt::print("{:>4} {:>4} {:>5} {:>9.2f} ms {:>7.3f} % {:>9.2f} ms {:>7.3f} % {:>8.3f} % {:>7.3f} %\n",
             gpu_machines, gpu_machines / 2, runs, 1e3 * fluid.mean(), 100 * fluid.spread(),
             1e3 * simgrid.mean(), 100 * simgrid.spread(), 100 * difference, 100 * chance);
  std::fflush(stdout);
  return std::abs(difference) <= 0.001 + 3.0 * chance;
}

int main(const std::vector<std::string>& words) {
  fmt::print("{:>4} {:>4} {:>5} {:>12} {:>9} {:>12} {:>9} {:>10} {:>9}\n", "gpu", "cpu", "runs",
             "fluid engine", "spread", "SimGrid", "spread", "difference", "error");
  const int runs = words.size() > 1 ? std::stoi(words[1]) : 16;
  const double precision = words.size() > 2 ? std::stod(words[2]) : 0.0;
  const int first = words.size() > 3 ? std::stoi(words[3]) : 0;
  if (!words.empty()) return measure(std::stoi(words[0]), runs, precision, first) ? 0 : 1;
  bool well = true;
  for (const int machines : {8, 16, 32, 48, 64}) well = measure(machines, runs, precision, first) && well;
  return well ? 0 : 1;
}

}  // namespace
}  // namespace weir::benchmarks

int main(int count, char** values) {
  try {
    return weir::benchmarks::main({values + 1, values + count});
  } catch (const std::logic_error&) {  // of a word that is no number
    fmt::print("weir_engine_agreement [GPU_MACHINES [RUNS [PRECISION [FIRST]]]]\n");
    return 2;
  }
}
