// What no schedule can beat: the bounds of an experiment's strategies on its cluster, without simulation, and
// the resources that set them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/analysis/bound.h"
#include "core/analysis/critical_path.h"
#include "core/calibrate/label.h"
#include "core/experiment/experiment.h"

namespace weir {

/// A strategy with its plan.
struct StrategyBound {
  std::string name;  // in the experiment
  Plan plan;
  Bound bound;   // of the first iteration
  Bound steady;  // of the period
  Label label;
};

/// A strategy that has no plan here.
struct NoBound {
  std::string name;
  std::string why;
};

/// Neither copied nor moved, because the workload refers to the experiment's trace.
struct ExperimentBounds {
  explicit ExperimentBounds(Experiment given)
      : experiment(std::move(given)), cluster(cluster_of(experiment)), workload(experiment.trace) {}
  ExperimentBounds(const ExperimentBounds&) = delete;
  ExperimentBounds& operator=(const ExperimentBounds&) = delete;

  Experiment experiment;
  Cluster cluster;
  Workload workload;
  std::vector<Need> needs;  // of any plan, longest first
  Bound steady;             // of the period of any plan
  std::vector<StrategyBound> possible;
  std::vector<NoBound> impossible;

  /// The strategy with the lowest bound of the first iteration; there must be one.
  const StrategyBound& least() const;
};

/// The bounds of these strategies or variants of the experiment, or of all if none are named. Fails if one
/// does not exist.
Result<std::unique_ptr<ExperimentBounds>> bounds_of(const Experiment& experiment,
                                                    const std::vector<std::string>& strategies = {});

/// Successive ops on a critical path that share kind, machine and peer.
struct PathStep {
  const Op* first;
  const Op* last;
  std::size_t ops = 0;
  Duration time;
};

/// The critical path of a plan. The plan outlives its steps.
struct PlanPath {
  CriticalPath path;
  std::vector<PathStep> steps;
};
PlanPath path_of(const Plan& plan, const Cluster& cluster);

}  // namespace weir
