#include "core/strategies/summation.h"

#include "core/analysis/local_choice.h"
#include "core/strategies/exchange.h"
#include "core/strategies/hashed_placement.h"
#include "core/strategies/placed_parts.h"

namespace weir {
namespace {

struct Split {
  LocalChoice local;
  Shares shares;
};

// What only servers can do that hold no gradient of their own, or all parts.
Result<void> check_fits(const Options& options, Summing summing) {
  const bool servers = summing == Summing::kCpuMachines;
  if (options.local == LocalStage::kApart && !servers)
    return failure("local 'apart' is for parameter servers on machines without GPUs");
  if (options.update_barrier && !servers)
    return failure("'update_barrier' is for parameter servers on machines without GPUs");
  if (options.placement == PartPlacement::kInTurn && summing == Summing::kOptimal)
    return failure("placement 'in_turn' is for parameter servers");
  return {};
}

Result<Split> split_of(const Cluster& cluster, const Workload& workload, const Options& options,
                       Summing summing) {
  const Dtype dtype = most_common_dtype(workload.trace());
  const Result<LocalChoice> local = choose_local(cluster, dtype, options);
  if (!local) return failure(local.error().text);
  const Result<Shares> shares = shares_of(cluster, dtype, options, local->stages, summing);
  if (!shares) return failure(shares.error().text);
  return Split{*local, *shares};
}

}  // namespace

Result<Plan> summation_plan(std::string name, const Cluster& cluster, const Workload& workload,
                            const Options& options, Summing summing) {
  if (const Result<void> fits = check_fits(options, summing); !fits) return tl::unexpected(fits.error());
  const Result<Split> split = split_of(cluster, workload, options, summing);
  if (!split) return failure(split.error().text);
  const Shares& shares = split->shares;
  std::vector<PlacedPart> parts;
  switch (options.placement) {
    case PartPlacement::kBalanced:
      parts = balanced_parts(cluster, workload, options, shares);
      break;
    case PartPlacement::kHash:
      parts = assigned_parts(cluster, workload, options, shares,
                             assign_as_byteps(cluster, workload, options.partition_size, summing));
      break;
    case PartPlacement::kInTurn: {
      const bool on_gpus = summing == Summing::kGpuMachines;
      const auto& servers = on_gpus ? cluster.gpu_machines() : cluster.cpu_machines();
      parts = assigned_parts(cluster, workload, options, shares, assign_in_turn(workload, servers));
      break;
    }
  }
  return exchange_plan(std::move(name), cluster, workload, options, split->local.stages, shares,
                       std::move(parts));
}

Result<Plan> mxnet_plan(const Cluster& cluster, const Workload& workload, const Options& options) {
  const std::vector<MachineId>& servers = mxnet_servers(cluster);
  const Summing summing = servers == cluster.gpu_machines() ? Summing::kGpuMachines : Summing::kCpuMachines;
  if (const Result<void> fits = check_fits(options, summing); !fits) return tl::unexpected(fits.error());
  const Result<Split> split = split_of(cluster, workload, options, summing);
  if (!split) return failure(split.error().text);
  return exchange_plan(
      "mxnet-ps", cluster, workload, options, split->local.stages, split->shares,
      assigned_parts(cluster, workload, options, split->shares, assign_as_mxnet(workload, servers)));
}

Bytes summation_part(const Cluster& cluster, const Workload& workload, const Options& options,
                     Summing summing) {
  const Result<Split> split = split_of(cluster, workload, options, summing);
  if (!split) return options.partition_size;  // there will be no plan
  return part_size(cluster, workload, options, split->shares);
}

}  // namespace weir
