// The other jobs of an experiment in one of its runs: their plans, and what they and the run's own job cost
// each other.
#pragma once

#include <memory>
#include <vector>

#include "core/cluster/subcluster.h"
#include "core/workload/workload.h"
#include "studies/run/trial.h"

namespace weir {

/// Another job, planned. Neither copied nor moved, as jobs refer to it; the experiment outlives it.
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

/// All of the experiment's; each plan is proved if the experiment says so.
Result<PlannedOtherJobs> plan_other_jobs(const Experiment& experiment, const Cluster& whole);

/// Adds to the row how long iterations take beside each other and alone. For the latter each job runs once
/// more, under the same conditions.
Result<void> add_other_jobs(const Planned& planned, const PlannedOtherJobs& other_jobs, const Lived& lived,
                            const World& world, Row& row);

}  // namespace weir
