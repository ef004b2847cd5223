#include "studies/bound/bounds.h"

#include <algorithm>

#include "core/experiment/planned_run.h"

namespace weir {
namespace {

std::vector<PathStep> steps_of(const CriticalPath& path, const Plan& plan, const WorkTable& works) {
  std::vector<PathStep> steps;
  for (const OpId id : path.ops) {
    const Op& op = plan.op(id);
    const bool more = !steps.empty() && steps.back().last->kind == op.kind &&
                      steps.back().last->machine == op.machine && steps.back().last->peer == op.peer;
    if (!more) steps.push_back({&op, &op});
    steps.back().last = &op;
    ++steps.back().ops;
    steps.back().time += works.shortest(id);
  }
  return steps;
}

}  // namespace

const StrategyBound& ExperimentBounds::least() const {
  return *std::min_element(
      possible.begin(), possible.end(),
      [](const StrategyBound& a, const StrategyBound& b) { return a.bound.time < b.bound.time; });
}

Result<std::unique_ptr<ExperimentBounds>> bounds_of(const Experiment& experiment,
                                                    const std::vector<std::string>& strategies) {
  auto bounds = std::make_unique<ExperimentBounds>(experiment);
  const Cluster& cluster = bounds->cluster;
  const Workload& workload = bounds->workload;
  bounds->steady = cluster_bound(cluster, workload, Stretch::steady());
  bounds->needs = cluster_needs(cluster, workload);
  for (const std::string& name : strategies.empty() ? experiment.strategies : strategies) {
    const auto found = contender(bounds->experiment, name);
    if (!found) return tl::unexpected(found.error());
    auto plan = planned(*found, cluster, workload);
    if (!plan) {
      bounds->impossible.push_back({name, plan.error().text});
      continue;
    }
    const WorkTable works(*plan, cluster);
    const Bound bound = plan_bound(*plan, cluster, works, workload, Stretch::first());
    const Bound steady = plan_bound(*plan, cluster, works, workload, Stretch::steady());
    const Label label = label_of(*plan, cluster, works, bounds->experiment, *found);
    bounds->possible.push_back({name, std::move(*plan), bound, steady, label});
  }
  return bounds;
}

PlanPath path_of(const Plan& plan, const Cluster& cluster) {
  const WorkTable works(plan, cluster);
  PlanPath found{critical_path(plan, works), {}};
  found.steps = steps_of(found.path, plan, works);
  return found;
}

}  // namespace weir
