#include "core/strategies/strategy.h"

#include <algorithm>
#include <array>
#include <cmath>

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

// A plan, its proof and its simulation take some 450 bytes for each op: 9 GB.
constexpr double kMostOps = 20e6;

// On its way a part is reduced over a machine's GPUs, copied out, sent, received, summed, sent, received,
// copied in and spread.
constexpr double kOpsPerPart = 9;
// Each machine sends and receives every chunk twice and sums it once, and may reduce and spread it.
constexpr double kOpsPerChunk = 5;
constexpr double kOpsPerLocalChunk = 7;

double machines(const Cluster& cluster) { return static_cast<double>(cluster.gpu_machines().size()); }

double ranks(const Cluster& cluster) {
  double gpus = 0;
  for (const MachineId id : cluster.gpu_machines())
    gpus += static_cast<double>(cluster.machine(id).gpus.size());
  return gpus;
}

double pieces(const Workload& workload, Bytes each) {
  return std::ceil(static_cast<double>(workload.size().count()) / static_cast<double>(each.count()));
}

double ops_of_parts(const Cluster& cluster, const Workload& workload, Bytes part) {
  return kOpsPerPart * machines(cluster) * pieces(workload, part);
}

double ring_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  return kOpsPerChunk * std::pow(machines(cluster), 2) * pieces(workload, options.fusion_size);
}

double hierarchical_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  return kOpsPerLocalChunk * std::pow(machines(cluster), 2) * pieces(workload, options.fusion_size);
}

double flat_ring_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  return kOpsPerChunk * std::pow(ranks(cluster), 2) * pieces(workload, options.fusion_size);
}

double double_tree_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  return ops_of_parts(cluster, workload, options.partition_size);
}

template <Summing summing>
double summation_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  return ops_of_parts(cluster, workload, summation_part(cluster, workload, options, summing));
}

constexpr std::string_view kParts = "partition_size and finest_part";

constexpr std::array<Strategy, 7> kStrategies = {{
    {"unified", "the optimal split of summation between GPU machines and CPU machines", unified,
     summation_ops<Summing::kOptimal>, kParts, choose_local},
    {"ring", "ring all-reduce among GPU machines, summed in host memory", ring_plan, ring_ops, "fusion_size",
     conventional_local},
    {"flat-ring", "ring all-reduce over all GPUs of all machines", flat_ring_plan, flat_ring_ops,
     "fusion_size", nullptr},
    {"hierarchical", "reduce-scatter in each machine, a ring among machines per GPU, all-gather",
     hierarchical_plan, hierarchical_ops, "fusion_size", nullptr},
    {"double-tree", "all-reduce along two complementary binary trees of GPU machines", double_tree_plan,
     double_tree_ops, "partition_size", conventional_local},
    {"ps", "parameter server on the CPU machines", ps, summation_ops<Summing::kCpuMachines>, kParts,
     choose_local},
    {"colocated-ps", "parameter server on the GPU machines themselves", colocated_ps,
     summation_ops<Summing::kGpuMachines>, kParts, choose_local},
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

Result<void> check_size(const Strategy& strategy, const Cluster& cluster, const Workload& workload,
                        const Options& options) {
  const double ops = strategy.ops(cluster, workload, options);
  if (ops <= kMostOps) return {};
  return failure(fmt::format(
      "its plan would have some {:.2g} ops, and memory is likely to hold {:.2g}; raise {}, or take "
      "fewer machines or a smaller model",
      ops, kMostOps, strategy.grain));
}

Dispatch dispatch_of(const Options& options) {
  constexpr Bytes kUnlimited(std::numeric_limits<std::int64_t>::max() / 2);
  return {options.policy, options.credit ? options.partition_size * *options.credit : kUnlimited};
}

}  // namespace weir
