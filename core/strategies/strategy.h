// A strategy is a pure function from the situation to a plan: from a cluster, a workload and options. The
// same arguments give the same plan on every machine.
//
// All properties of a strategy are in its row of the table. The row is in the file that makes its plans.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/local_choice.h"
#include "core/base/required.h"
#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
#include "core/strategies/blocks/options.h"
#include "core/workload/workload.h"

namespace weir {

/// How gradients become sums.
enum class StrategyKind {
  kSplit,      // every machine sends each part directly to one machine that sums it, by the optimal split
  kServers,    // the same, but only servers sum
  kAllReduce,  // sums pass from machine to machine, at Options::allreduce_efficiency of a NIC's rate
};

/// How a strategy is drawn.
struct Look {
  std::string_view color;   // "#RRGGBB"; empty: any color that is free in the picture
  std::string_view marker;  // its name in matplotlib
  std::string_view line;    // its name in matplotlib; or the lengths of dashes and gaps, "5 1 1 1"
};

/// The signature of a row's functions. They get the cluster, the workload and the settled options.
template <class T>
using OfPlan = T (*)(const Cluster& cluster, const Workload& workload, const Options& options);

/// The options, unchanged.
constexpr Options as_given(Options options) { return options; }

struct Strategy {
  std::string_view name;     // in files and tables
  std::string_view summary;  // one line for people
  StrategyKind kind = StrategyKind::kAllReduce;
  Look look = {};

  Required<OfPlan<Result<Plan>>> make;  // makes the plan; callers use plan() instead
  /// The approximate number of ops in that plan, computed without making it.
  Required<OfPlan<double>> ops;
  std::vector<std::string_view> grain = {};  // the options that reduce their number when they are raised

  /// A strategy may fix some options. Returns the options with these set. The plan is made and dispatched
  /// with them, whatever the user gives.
  Options (*settled)(Options options) = as_given;
  std::vector<std::string_view> tuned = {};           // the options that usually matter for speed
  std::vector<std::string_view> tuned_for_gpus = {};  // more such options, for machines with several GPUs

  /// The local stage of every machine in that plan; null if no part goes to host memory.
  Result<LocalChoice> (*local)(const Cluster& cluster, Dtype dtype, const Options& options) = nullptr;
  bool updates = false;  // whether a summing machine can also do the optimizer's step (Options::optimizer)
  /// Why its plans do not support independent layers (Options::independent_layers), which PyTorch training
  /// needs; empty if they do.
  std::string_view cannot_train = {};

  /// Fails if there is no plan for these options or this cluster.
  Result<Plan> plan(const Cluster& cluster, const Workload& workload, const Options& options) const;
};

/// Rejects a plan with more ops than memory is likely to hold, before it is made, and says what to change.
Result<void> check_size(const Strategy& strategy, const Cluster& cluster, const Workload& workload,
                        const Options& options);

/// All strategies, in the order in which tables show them.
std::span<const Strategy> strategies();

/// The strategy with this name; the error lists all names.
Result<const Strategy*> strategy_named(std::string_view name);

/// The names of the strategies whose tensors this option cuts (Strategy::grain): "ring, flat-ring".
std::string strategies_cut_by(std::string_view option);

/// Names of strategies: the default, the baseline for speed-ups, and the one whose CPU machines sum
/// everything.
std::string_view default_strategy();
std::string_view default_baseline();
std::string_view server_strategy();

/// If the strategy cannot train, fails with the row's reason and the names of strategies that can.
Result<void> check_trains(const Strategy& strategy);

/// How to dispatch the plans that the strategy makes with these options.
Dispatch dispatch_of(const Strategy& strategy, const Options& options);

}  // namespace weir
