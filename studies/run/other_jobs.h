// The other jobs in one run of an experiment: their plans, and how much they and the run's own job slow each
// other down.
#pragma once

#include <memory>
#include <vector>

#include "core/cluster/subcluster.h"
#include "core/workload/workload.h"
#include "studies/run/trial.h"

namespace weir {

/// Another job with its plan. Neither copied nor moved, because jobs refer to it; the experiment outlives it.
struct PlannedOtherJob {
  PlannedOtherJob(const OtherJob& given, const Cluster& whole)
      : asked(given), subcluster(whole, machines_named(given.machines, whole)), workload(given.trace) {}
  PlannedOtherJob(const PlannedOtherJob&) = delete;
  PlannedOtherJob& operator=(const PlannedOtherJob&) = delete;

  Job job(const Model& model) const { return {plan, subcluster, dispatch, model, asked.start}; }

  const OtherJob& asked;
  Subcluster subcluster;
  Workload workload;
  Plan plan;
  Dispatch dispatch;
};

using PlannedOtherJobs = std::vector<std::unique_ptr<PlannedOtherJob>>;

/// Plans all other jobs of the experiment; proves each plan if the experiment says so.
Result<PlannedOtherJobs> plan_other_jobs(const Experiment& experiment, const Cluster& whole);

/// Adds to the row how long iterations take when jobs share the cluster and when each is alone. For the
/// latter, each job runs once more, under the same conditions.
Result<void> add_other_jobs(const Planned& planned, const PlannedOtherJobs& other_jobs,
                            const RunOutput& output, const World& world, Row& row);

}  // namespace weir
