// A strategy is a pure function from what there is to what to do: a cluster, a workload and options give a
// plan. The same arguments give the same plan on every machine.
//
// All that is true of one strategy stands in its row, in the file that makes its plans.
#pragma once

#include <span>
#include <string_view>

#include "core/analysis/local_choice.h"
#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
#include "core/strategies/blocks/options.h"
#include "core/workload/workload.h"

namespace weir {

/// How gradients become sums.
enum class StrategyKind {
  kSplit,      // every machine sends each part straight to one that sums it, by the optimal split
  kServers,    // the same, to the machines that are servers
  kAllReduce,  // sums pass from machine to machine, at Options::allreduce_efficiency of a NIC's rate
};

/// How a strategy is drawn.
struct Look {
  std::string_view color;   // "#RRGGBB"; empty: whatever is free in the picture
  std::string_view marker;  // as matplotlib names it
  std::string_view line;    // likewise; or the lengths of dashes and gaps, "5 1 1 1"
};

/// What functions of a row are called with: the cluster, the workload and the settled options.
template <class T>
using OfPlan = T (*)(const Cluster& cluster, const Workload& workload, const Options& options);

/// The options as they are.
constexpr Options as_given(Options options) { return options; }

struct Strategy {
  std::string_view name;     // in files and tables
  std::string_view summary;  // one line for people
  StrategyKind kind = StrategyKind::kAllReduce;
  Look look = {};

  OfPlan<Result<Plan>> make = nullptr;  // the plan; others call plan()
  /// About how many ops that plan has; known without making it.
  OfPlan<double> ops = nullptr;
  std::string_view grain = {};  // the option that makes them fewer; empty if none does

  /// Some options are what the strategy is. Returns the options with those as they are: what the plan is made
  /// with whatever it is given, and how it is to be dispatched.
  Options (*settled)(Options options) = as_given;
  /// The options that usually matter for speed, with commas between; empty if none does.
  std::string_view tuned = {};
  /// Further ones where a machine has several GPUs.
  std::string_view tuned_for_gpus = {};

  /// The local stage of every machine in that plan; null where no part goes to host memory.
  Result<LocalChoice> (*local)(const Cluster& cluster, Dtype dtype, const Options& options) = nullptr;
  bool updates = false;  // whoever sums can do the optimizer's step too (Options::optimizer)
  /// Why its plans cannot be of layers that know nothing of each other (Options::independent_layers), which
  /// is how PyTorch trains; empty if they can.
  std::string_view cannot_train = {};

  /// Fails if the options or the cluster are none that it can have a plan for.
  Result<Plan> plan(const Cluster& cluster, const Workload& workload, const Options& options) const;
};

/// Refuses a plan of more ops than memory is likely to hold, before it is made, and says what to change.
Result<void> check_size(const Strategy& strategy, const Cluster& cluster, const Workload& workload,
                        const Options& options);

/// All strategies, in the order in which tables show them.
std::span<const Strategy> strategies();

/// The strategy of that name; the error lists the names there are.
Result<const Strategy*> strategy_named(std::string_view name);

/// Names of strategies: the one that is taken where nobody names one, the one that speed-ups are over, and
/// the one whose CPU machines sum everything.
std::string_view default_strategy();
std::string_view default_baseline();
std::string_view server_strategy();

/// Fails with the row's reason, and the names of those that can, if the strategy cannot train.
Result<void> check_trains(const Strategy& strategy);

/// How the strategy's plans made with these options are to be dispatched.
Dispatch dispatch_of(const Strategy& strategy, const Options& options);

}  // namespace weir
