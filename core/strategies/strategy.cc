#include "core/strategies/strategy.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/strategies/blocks/buckets.h"
#include "core/strategies/flat_ring.h"
#include "core/strategies/hashed_placement.h"
#include "core/strategies/nccl.h"
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

Result<Plan> flat_ring(const Cluster& cluster, const Workload& workload, const Options& options) {
  return flat_ring_plan(cluster, workload, options, fused_buckets("flat-ring", workload, options));
}

Result<Plan> hierarchical(const Cluster& cluster, const Workload& workload, const Options& options) {
  return hierarchical_plan(cluster, workload, options, fused_buckets("hierarchical", workload, options));
}

Result<Plan> all_reduce(const Cluster& cluster, const Workload& workload, const Options& options,
                        const Buckets& buckets) {
  switch (options.collective) {
    case Collective::kFlatRing:
      return flat_ring_plan(cluster, workload, options, buckets);
    case Collective::kHierarchical:
      return hierarchical_plan(cluster, workload, options, buckets);
    case Collective::kNccl:
      return nccl_plan(cluster, workload, options, buckets);
  }
  return failure("there is no such collective");
}

Options as_given(Options options) { return options; }

// The plan of a strategy that ends with sums.
template <auto plan>
Result<Plan> sums_only(const Cluster& cluster, const Workload& workload, const Options& options) {
  if (options.optimizer == Optimizer::kNone) return plan(cluster, workload, options);
  return failure("its GPUs update parameters themselves; 'optimizer' is for ps, colocated-ps and mxnet-ps");
}

// Frameworks call their collectives in the order in which gradients become ready, and what is called runs.
Options first_come(Options options) {
  options.policy = Policy::kFifo;
  options.credit.reset();
  return options;
}

Options as_mxnet(Options options) {
  options = first_come(options);
  options.pull_requests = true;
  return options;
}

Result<Plan> ddp(const Cluster& cluster, const Workload& workload, const Options& options) {
  return all_reduce(cluster, workload, first_come(options), ddp_buckets(workload, options));
}

Result<Plan> horovod(const Cluster& cluster, const Workload& workload, const Options& options) {
  return all_reduce(cluster, workload, first_come(options), horovod_buckets(cluster, workload, options));
}

Result<Plan> byte_scheduler(const Cluster& cluster, const Workload& workload, const Options& options) {
  return all_reduce(cluster, workload, options, byte_scheduler_buckets(workload, options));
}

Result<Plan> mxnet_ps(const Cluster& cluster, const Workload& workload, const Options& options) {
  return mxnet_plan(cluster, workload, as_mxnet(options));
}

// A plan, its proof and its simulation take some 450 bytes for each op: 9 GB.
constexpr double kMostOps = 20e6;

// On its way a part is reduced over a machine's GPUs, copied out, sent, received, summed, sent, received,
// copied in and spread.
constexpr double kOpsPerPart = 9;
constexpr double kOpsPerRequestedPart = kOpsPerPart + 2;
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

double ops_of_collectives(const Cluster& cluster, const Options& options, double buckets) {
  switch (options.collective) {
    case Collective::kFlatRing:
      return kOpsPerChunk * std::pow(ranks(cluster), 2) * buckets;
    case Collective::kHierarchical:
      return kOpsPerLocalChunk * std::pow(machines(cluster), 2) * buckets;
    case Collective::kNccl:
      return machines(cluster) * buckets;
  }
  return 0;
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

double ddp_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  return ops_of_collectives(cluster, options,
                            static_cast<double>(ddp_buckets(workload, options).buckets.size()));
}

double horovod_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  return ops_of_collectives(cluster, options,
                            static_cast<double>(horovod_buckets(cluster, workload, options).buckets.size()));
}

double byte_scheduler_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  double parts = 0;
  for (const Workload::Whole& tensor : workload.tensors())
    parts += static_cast<double>(tensor.part.range.size / options.partition_size + 1);
  return ops_of_collectives(cluster, options, parts);
}

double mxnet_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  const auto parts = assign_as_mxnet(workload, mxnet_servers(cluster)).size();
  const double senders = options.local == LocalStage::kApart ? ranks(cluster) : machines(cluster);
  return kOpsPerRequestedPart * senders * static_cast<double>(parts);
}

template <Summing summing>
double summation_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  const double senders = options.local == LocalStage::kApart ? ranks(cluster) / machines(cluster) : 1;
  return senders * ops_of_parts(cluster, workload, summation_part(cluster, workload, options, summing));
}

constexpr std::string_view kParts = "partition_size and finest_part";

constexpr std::array<Strategy, 11> kStrategies = {{
    {"unified", "the optimal split of summation between GPU machines and CPU machines", sums_only<unified>,
     summation_ops<Summing::kOptimal>, kParts, as_given, choose_local},
    {"ring", "ring all-reduce among GPU machines, summed in host memory", sums_only<ring_plan>, ring_ops,
     "fusion_size", as_given, conventional_local},
    {"flat-ring", "ring all-reduce over all GPUs of all machines", sums_only<flat_ring>, flat_ring_ops,
     "fusion_size", as_given, nullptr},
    {"hierarchical", "reduce-scatter in each machine, a ring among machines per GPU, all-gather",
     sums_only<hierarchical>, hierarchical_ops, "fusion_size", as_given, nullptr},
    {"double-tree", "all-reduce along two complementary binary trees of GPU machines",
     sums_only<double_tree_plan>, double_tree_ops, "partition_size", as_given, conventional_local},
    {"ps", "parameter server on the CPU machines", ps, summation_ops<Summing::kCpuMachines>, kParts, as_given,
     choose_local},
    {"colocated-ps", "parameter server on the GPU machines themselves", colocated_ps,
     summation_ops<Summing::kGpuMachines>, kParts, as_given, choose_local},
    {"ddp", "PyTorch's buckets of whole tensors, first come, first served", sums_only<ddp>, ddp_ops,
     "bucket_size", first_come, nullptr},
    {"horovod", "what becomes ready within a cycle fused, first come, first served", sums_only<horovod>,
     horovod_ops, "fusion_buffer and cycle_time", first_come, nullptr},
    {"bytescheduler", "all-reduces of parts of tensors, by priority, a few at a time",
     sums_only<byte_scheduler>, byte_scheduler_ops, "partition_size", as_given, nullptr},
    {"mxnet-ps", "parameter server of whole tensors, placed by a hash of their number", mxnet_ps, mxnet_ops,
     "", as_mxnet, choose_local},
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
      "its plan would have some {:.2g} ops, and memory is likely to hold {:.2g}; {}take fewer machines or a "
      "smaller model",
      ops, kMostOps, strategy.grain.empty() ? std::string() : fmt::format("raise {}, or ", strategy.grain)));
}

Dispatch dispatch_of(const Strategy& strategy, const Options& options) {
  constexpr Bytes kUnlimited(std::numeric_limits<std::int64_t>::max() / 2);
  const Options settled = strategy.settled(options);
  return {settled.policy, settled.credit ? settled.partition_size * *settled.credit : kUnlimited};
}

}  // namespace weir
