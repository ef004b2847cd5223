#include "core/strategies/strategy.h"

#include <algorithm>
#include <array>

#include "core/strategies/flat_ring.h"
#include "core/strategies/ring.h"
#include "core/strategies/summation.h"
#include "core/strategies/tree.h"

namespace weir {
namespace {

Result<Plan> unified(const Cluster& cluster, const Workload& workload, const Options& options) {
  return summation_plan("unified", cluster, workload, options, Summing::kOptimal);
}

Result<Plan> ps(const Cluster& cluster, const Workload& workload, const Options& options) {
  return summation_plan("ps", cluster, workload, options, Summing::kCpuMachines);
}

Result<Plan> colocated_ps(const Cluster& cluster, const Workload& workload, const Options& options) {
  return summation_plan("colocated-ps", cluster, workload, options, Summing::kGpuMachines);
}

constexpr std::array<Strategy, 7> kStrategies = {{
    {"unified", "the optimal split of summation between GPU machines and CPU machines", unified},
    {"ring", "ring all-reduce among GPU machines, summed in host memory", ring_plan},
    {"flat-ring", "ring all-reduce over all GPUs of all machines", flat_ring_plan},
    {"hierarchical", "reduce-scatter in each machine, a ring among machines per GPU, all-gather",
     hierarchical_plan},
    {"double-tree", "all-reduce along two complementary binary trees of GPU machines", double_tree_plan},
    {"ps", "parameter server on the CPU machines", ps},
    {"colocated-ps", "parameter server on the GPU machines themselves", colocated_ps},
}};

}  // namespace

std::span<const Strategy> strategies() { return kStrategies; }

Result<const Strategy*> strategy_named(std::string_view name) {
  std::string names;
  for (const Strategy& strategy : kStrategies) {
    if (strategy.name == name) return &strategy;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", strategy.name);
  }
  return failure(fmt::format("'{}' is no strategy; try one of {}", name, names));
}

Dispatch dispatch_of(const Options& options) {
  constexpr Bytes kUnlimited(std::numeric_limits<std::int64_t>::max() / 2);
  return {options.policy, options.credit ? options.partition_size * *options.credit : kUnlimited};
}

}  // namespace weir
