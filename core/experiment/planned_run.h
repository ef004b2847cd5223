// What a run of one strategy stands on, made anew from the text of its experiment: so a machine of a job, or
// who reads a record, comes to the same plan as the one who wrote the text (whole_text).
#pragma once

#include <memory>
#include <string>

#include "core/cluster/cluster.h"
#include "core/experiment/experiment.h"
#include "core/run/queue.h"
#include "core/workload/workload.h"

namespace weir {

/// Neither copied nor moved: the workload reads the experiment's trace.
struct PlannedRun {
  explicit PlannedRun(Experiment given)
      : experiment(std::move(given)), cluster(cluster_of(experiment)), workload(experiment.trace) {}
  PlannedRun(const PlannedRun&) = delete;
  PlannedRun& operator=(const PlannedRun&) = delete;

  Experiment experiment;
  Cluster cluster;
  Workload workload;
  Plan plan;
  Dispatch dispatch;
};

/// The contender's plan; refuses what memory would not hold.
Result<Plan> planned(const Contender& contender, const Cluster& cluster, const Workload& workload);

/// Reads the text, which holds its topology and its trace itself, and plans its strategy or variant of that
/// name. Complaints call the text by `file`.
Result<std::unique_ptr<PlannedRun>> plan_run(const std::string& text, const std::string& strategy,
                                             const std::string& file);

}  // namespace weir
