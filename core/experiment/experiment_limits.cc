// Checks the experiment's parts together, and the size of the whole.
#include <algorithm>

#include "core/base/units_text.h"
#include "core/document/complaints.h"
#include "core/experiment/experiment_check.h"
#include "core/experiment/experiment_file.h"

namespace weir {
namespace {

constexpr std::size_t kMostRuns = 100'000;

// A longer time can neither be simulated nor, summed up, be counted in nanoseconds.
constexpr Duration kLongestExchange{10'000'000'000'000'000};

bool trains(const Topology& topology) {
  return std::any_of(topology.groups.begin(), topology.groups.end(),
                     [](const GroupSpec& group) { return group.count > 0 && gpu_count(group) > 0; });
}

// The largest of all jobs.
Bytes largest_model(const Experiment& experiment) {
  Bytes most = size(experiment.trace);
  for (const OtherJob& job : experiment.other_jobs) most = std::max(most, size(job.trace));
  return most;
}

// How long the slowest link or sum is busy if a strategy sends all gradients through it, both ways.
double exchange_seconds(const Experiment& experiment, BytesPerSecond rate) {
  if (!rate.limited()) return 0;
  double machines = 0;
  for (const GroupSpec& group : experiment.topology.groups) machines += group.count;
  return 2 * machines * static_cast<double>(largest_model(experiment).count()) /
         static_cast<double>(rate.value());
}

}  // namespace

std::vector<Error> ExperimentFile::check_together(const Experiment& experiment, const Value& document) const {
  std::vector<Error> errors;
  const Value& topology = *document.find("topology");
  const std::string path = path_of(topology, "topology");
  if (!trains(experiment.topology)) {
    errors.push_back({complaint(
        topology, path,
        "no machine has a GPU; an experiment needs at least one machine with a GPU. Where CPUs compute, give "
        "their machines 'gpus' that stand for them: in real runs these are memory of the host")});
  }
  if (errors.empty() && !(experiment.conditions.none() && experiment.alone())) {
    const Cluster cluster(experiment.topology);
    auto wrong = faults(experiment.conditions, cluster);
    for (auto& fault : failures_elsewhere(experiment.conditions, experiment.machines, cluster))
      wrong.push_back(std::move(fault));
    for (const auto& [at, what] : wrong) {
      const std::string where = joined("conditions", at);
      errors.push_back({complaint(located(document, where), where, what)});
    }
    for (const auto& [where, what] : faults(experiment.machines, experiment.other_jobs, cluster))
      errors.push_back({complaint(located(document, where), where, what)});
  }
  if (experiment.published) {
    for (std::size_t i = 0; i < experiment.published->curves.size(); ++i) {
      const std::size_t values = experiment.published->curves[i].numbers.size();
      if (values == points()) continue;
      const std::string at = joined(joined("published.curves", i), "values");
      errors.push_back(
          {complaint(located(document, at), at,
                     fmt::format("there are {} values, but the sweep has {} points", values, points()))});
    }
  }
  const std::size_t runs = points() * experiment.strategies.size() * experiment.seeds.size();
  if (runs > kMostRuns) {
    errors.push_back(
        {complaint(document, "",
                   fmt::format("{} runs are too many; at most {}: leave out seeds, strategies or "
                               "values of the sweep",
                               runs, kMostRuns))});
  }
  const BytesPerSecond rate = slowest_rate(experiment.topology);
  const double seconds = exchange_seconds(experiment, rate);
  if (seconds > kLongestExchange.seconds()) {
    errors.push_back(
        {complaint(topology, path,
                   fmt::format("over the slowest link or sum ({}), the gradients of all machines ({} each) "
                               "may take {:.3g} s; at most {}: raise its rate, or take a smaller model",
                               weir::text(rate), rounded(largest_model(experiment)), seconds,
                               weir::text(kLongestExchange)))});
  }
  return errors;
}

}  // namespace weir
