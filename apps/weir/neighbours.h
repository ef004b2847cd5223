// The other jobs of an experiment in one of its runs: their plans, and what they and the run's own job cost
// each other.
#pragma once

#include <memory>
#include <vector>

#include "apps/weir/trial.h"
#include "core/cluster/subcluster.h"
#include "core/workload/workload.h"

namespace weir {

/// Another job, planned. Neither copied nor moved, as jobs refer to it; the experiment outlives it.
struct Neighbour {
  Neighbour(const OtherJob& given, const Cluster& whole)
      : asked(given), subcluster(whole, machines_named(given.machines, whole)), workload(given.trace) {}
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  Job job(const Model& model) const { return {plan, subcluster, dispatch, model, asked.start}; }

  const OtherJob& asked;
  Subcluster subcluster;
  Workload workload;
  Plan plan;
  Dispatch dispatch;
};

using Neighbours = std::vector<std::unique_ptr<Neighbour>>;

/// All of the experiment's; each plan is proved if the experiment says so.
Result<Neighbours> neighbours_of(const Experiment& experiment, const Cluster& whole);

/// Adds to the row how long iterations take beside each other and alone. For the latter each job runs once
/// more, under the same conditions.
Result<void> add_neighbours(const Planned& planned, const Neighbours& neighbours, const Lived& lived,
                            const World& world, Row& row);

}  // namespace weir
