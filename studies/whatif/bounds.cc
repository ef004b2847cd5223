#include "studies/whatif/bounds.h"

#include "core/analysis/local_choice.h"
#include "core/calibrate/split_label.h"
#include "core/strategies/strategy.h"
#include "studies/run/labels.h"

namespace weir {
namespace {

// The unified strategy's split on a cluster, which needs no plan, and its bound.
struct SplitBound {
  LocalStageOf stages;
  Shares shares;
  Bound bound;
};

Result<SplitBound> split_bound_of(const Cluster& cluster, const Workload& workload,
                                  const Experiment& experiment) {
  const Dtype dtype = most_common_dtype(experiment.trace);
  auto local = choose_local(cluster, dtype, experiment.options);
  if (!local) return tl::unexpected(local.error());
  auto shares = shares_of(cluster, dtype, experiment.options, local->stages, Summing::kOptimal);
  if (!shares) return tl::unexpected(shares.error());
  Bound bound = split_bound(cluster, workload, *shares, Stretch::first());
  return SplitBound{std::move(local->stages), std::move(*shares), std::move(bound)};
}

}  // namespace

Result<Bound> bound_of_split(const Experiment& experiment) {
  const auto split = split_bound_of(cluster_of(experiment), Workload(experiment.trace), experiment);
  if (!split) return tl::unexpected(split.error());
  return split->bound;
}

Outcome bound_alone(const std::string& name, const Experiment& experiment) {
  const Cluster cluster = cluster_of(experiment);
  const Workload workload(experiment.trace);
  const Strategy& strategy = **strategy_named(name);
  const Options& options = experiment.options;
  Bound bound;
  Label label;
  if (strategy.kind == StrategyKind::kSplit) {
    const auto split = split_bound_of(cluster, workload, experiment);
    if (!split) return {Outcome::Kind::kImpossible, {}, split.error().text};
    bound = split->bound;
    label = label_of_split(strategy, split->shares, split->stages, cluster, workload, experiment);
  } else {
    if (const auto fits = check_size(strategy, cluster, workload, options); !fits) {
      return {Outcome::Kind::kFailed, {}, fits.error().text};
    }
    const auto plan = strategy.plan(cluster, workload, options);
    if (!plan) return {Outcome::Kind::kImpossible, {}, plan.error().text};
    const WorkTable works(*plan, cluster);
    bound = plan_bound(*plan, cluster, works, workload, Stretch::first());
    label = label_of(*plan, cluster, works, experiment, {&strategy, options});
  }
  Outcome outcome{Outcome::Kind::kRow, {}, {}};
  outcome.row.strategy = name;
  outcome.row.gpu_machines = static_cast<std::int64_t>(cluster.gpu_machines().size());
  outcome.row.iteration_ns = bound.time.ns();
  outcome.row.binding = bound.binding;
  set_label(outcome.row, label);
  double gpus = 0;
  for (const MachineId id : cluster.gpu_machines())
    gpus += static_cast<double>(cluster.machine(id).gpus.size());
  if (bound.time > Duration(0)) {
    outcome.row.samples_per_s = gpus * static_cast<double>(experiment.trace.batch) / bound.time.seconds();
  }
  return outcome;
}

}  // namespace weir
