// A strategy is a pure function from what there is to what to do: a cluster, a workload and options give a
// plan. The same arguments give the same plan on every machine.
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

struct Strategy {
  std::string_view name;     // in files and tables
  std::string_view summary;  // one line for people
  Result<Plan> (*plan)(const Cluster& cluster, const Workload& workload, const Options& options);
  /// About how many ops that plan has; known without making it.
  double (*ops)(const Cluster& cluster, const Workload& workload, const Options& options);
  std::string_view grain;  // the option that makes them fewer; empty if none does
  /// Some options are what the strategy is. Returns the options with those as they are: what the plan is made
  /// with whatever it is given, and how it is to be dispatched.
  Options (*settled)(Options options);
  /// The local stage of every machine in that plan; null where no part goes to host memory.
  Result<LocalChoice> (*local)(const Cluster& cluster, Dtype dtype, const Options& options);
};

/// Refuses a plan of more ops than memory is likely to hold, before it is made, and says what to change.
Result<void> check_size(const Strategy& strategy, const Cluster& cluster, const Workload& workload,
                        const Options& options);

/// All strategies, in the order in which tables show them.
std::span<const Strategy> strategies();

/// The strategy of that name; the error lists the names there are.
Result<const Strategy*> strategy_named(std::string_view name);

/// How the strategy's plans made with these options are to be dispatched.
Dispatch dispatch_of(const Strategy& strategy, const Options& options);

}  // namespace weir
