#include "core/strategies/strategy.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/strategies/flat_ring.h"
#include "core/strategies/frameworks.h"
#include "core/strategies/halving_doubling.h"
#include "core/strategies/ring.h"
#include "core/strategies/summation.h"
#include "core/strategies/tree.h"

namespace weir {
namespace {

// A plan, its proof and its simulation take about 450 bytes for each op: 9 GB.
constexpr double kMostOps = 20e6;

template <class Condition>
std::vector<std::string_view> names_of(const Condition& condition) {
  std::vector<std::string_view> names;
  for (const Strategy& strategy : strategies()) {
    if (condition(strategy)) names.push_back(strategy.name);
  }
  return names;
}

}  // namespace

std::span<const Strategy> strategies() {
  static const std::array table = {
      unified_strategy(),      ring_strategy(),           flat_ring_strategy(),
      hierarchical_strategy(), double_tree_strategy(),    halving_doubling_strategy(),
      ps_strategy(),           colocated_ps_strategy(),   ddp_strategy(),
      horovod_strategy(),      byte_scheduler_strategy(), mxnet_ps_strategy(),
  };
  return table;
}

Result<const Strategy*> strategy_named(std::string_view name) {
  for (const Strategy& strategy : strategies()) {
    if (strategy.name == name) return &strategy;
  }
  return failure(fmt::format("unknown strategy '{}'; expected one of {}", name,
                             fmt::join(names_of([](const Strategy&) { return true; }), ", ")));
}

std::string strategies_cut_by(std::string_view option) {
  const auto cut = [option](const Strategy& one) {
    return std::ranges::find(one.grain, option) != one.grain.end();
  };
  return fmt::format("{}", fmt::join(names_of(cut), ", "));
}

std::string_view default_strategy() { return unified_strategy().name; }

std::string_view default_baseline() { return ring_strategy().name; }

std::string_view server_strategy() { return ps_strategy().name; }

Result<Plan> Strategy::plan(const Cluster& cluster, const Workload& workload, const Options& options) const {
  if (options.optimizer != Optimizer::kNone && !updates) {
    std::vector<std::string_view> servers = names_of([](const Strategy& one) { return one.updates; });
    const std::string_view last = servers.back();
    servers.pop_back();
    return failure(fmt::format("its GPUs update parameters themselves; 'optimizer' is for {} and {}",
                               fmt::join(servers, ", "), last));
  }
  if (options.independent_layers && !cannot_train.empty()) return failure(std::string(cannot_train));
  return make(cluster, workload, settled(options));
}

Result<void> check_trains(const Strategy& strategy) {
  if (strategy.cannot_train.empty()) return {};
  return failure(
      fmt::format("'{}' cannot train: {}; try one of {}", strategy.name, strategy.cannot_train,
                  fmt::join(names_of([](const Strategy& one) { return one.cannot_train.empty(); }), ", ")));
}

Result<void> check_size(const Strategy& strategy, const Cluster& cluster, const Workload& workload,
                        const Options& options) {
  const double ops = strategy.ops(cluster, workload, options);
  if (ops <= kMostOps) return {};
  const std::string raise = fmt::format("{}", fmt::join(strategy.grain, " and "));
  return failure(fmt::format(
      "its plan would have about {:.2g} ops, but memory holds about {:.2g}; {}use fewer machines or a "
      "smaller model",
      ops, kMostOps, raise.empty() ? std::string() : fmt::format("raise {}, or ", raise)));
}

Dispatch dispatch_of(const Strategy& strategy, const Options& options) {
  constexpr Bytes kUnlimited(std::numeric_limits<std::int64_t>::max() / 2);
  const Options settled = strategy.settled(options);
  return {settled.policy, send_window(settled).value_or(kUnlimited)};
}

}  // namespace weir
