#include "core/experiment/planned_run.h"

#include "core/experiment/experiment_file.h"

namespace weir {

Result<Plan> planned(const Contender& contender, const Cluster& cluster, const Workload& workload) {
  const auto& [strategy, options] = contender;
  if (const auto fits = check_size(*strategy, cluster, workload, options); !fits)
    return tl::unexpected(fits.error());
  return strategy->plan(cluster, workload, options);
}

Result<std::unique_ptr<PlannedRun>> plan_run(const std::string& text, const std::string& strategy,
                                             const std::string& file) {
  const auto read = ExperimentFile::parse(text, file);
  if (!read) return tl::unexpected(read.error());
  auto experiment = read->experiment({});
  if (!experiment) return tl::unexpected(experiment.error());
  auto made = std::make_unique<PlannedRun>(std::move(*experiment));
  const auto found = contender(made->experiment, strategy);
  if (!found) return tl::unexpected(found.error());
  auto plan = planned(*found, made->cluster, made->workload);
  if (!plan) return tl::unexpected(plan.error());
  made->plan = std::move(*plan);
  made->dispatch = dispatch_of(*found->strategy, found->options);
  return made;
}

}  // namespace weir
