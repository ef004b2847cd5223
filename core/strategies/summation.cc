#include "core/strategies/summation.h"

#include <string_view>
#include <vector>

#include "core/analysis/local_choice.h"
#include "core/strategies/blocks/op_counts.h"
#include "core/strategies/exchange.h"
#include "core/strategies/frameworks.h"
#include "core/strategies/hashed_placement.h"
#include "core/strategies/placed_parts.h"

namespace weir {
namespace {

struct Split {
  LocalChoice local;
  Shares shares;
};

// Rejects options that only pure servers support: machines without a gradient of their own, or owners of all
// parts.
Result<void> check_fits(const Options& options, Summing summing) {
  const bool servers = summing == Summing::kCpuMachines;
  if (options.local == LocalStage::kApart && !servers) return failure(kApartRefused);
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

// The largest part that the plan would cut tensors into.
Bytes part_of(const Cluster& cluster, const Workload& workload, const Options& options, Summing summing) {
  const Result<Split> split = split_of(cluster, workload, options, summing);
  if (!split) return options.partition_size;  // the plan will fail too
  return part_size(cluster, workload, options, split->shares);
}

// The number of senders: all GPUs if they are separate, otherwise all GPU machines.
double senders(const Cluster& cluster, const Options& options) {
  return options.local == LocalStage::kApart ? gpu_count(cluster) : gpu_machine_count(cluster);
}

template <Summing summing>
double summation_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  return senders(cluster, options) / gpu_machine_count(cluster) *
         ops_of_parts(cluster, workload, part_of(cluster, workload, options, summing));
}

double mxnet_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  constexpr double kOpsPerRequestedPart = 11;
  const auto parts = assign_as_mxnet(workload, mxnet_servers(cluster)).size();
  return kOpsPerRequestedPart * senders(cluster, options) * static_cast<double>(parts);
}

Result<Plan> unified(const Cluster& cluster, const Workload& workload, const Options& options) {
  return summation_plan(std::string(unified_strategy().name), cluster, workload, options, Summing::kOptimal);
}

Result<Plan> ps(const Cluster& cluster, const Workload& workload, const Options& options) {
  return summation_plan(std::string(ps_strategy().name), cluster, workload, options, Summing::kCpuMachines);
}

Result<Plan> colocated_ps(const Cluster& cluster, const Workload& workload, const Options& options) {
  return summation_plan(std::string(colocated_ps_strategy().name), cluster, workload, options,
                        Summing::kGpuMachines);
}

Options as_mxnet(Options options) {
  options = first_come(options);
  options.pull_requests = true;
  return options;
}

std::vector<std::string_view> parts() { return {"partition_size", "finest_part"}; }

std::vector<std::string_view> window() { return {"partition_size", "credit"}; }

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
      std::string(mxnet_ps_strategy().name), cluster, workload, options, split->local.stages, split->shares,
      assigned_parts(cluster, workload, options, split->shares, assign_as_mxnet(workload, servers)));
}

Strategy unified_strategy() {
  return {.name = "unified",
          .summary = "the optimal split of summation between GPU machines and CPU machines",
          .kind = StrategyKind::kSplit,
          .look = {"#0072B2", "o", "-"},
          .make = unified,
          .ops = summation_ops<Summing::kOptimal>,
          .grain = parts(),
          .tuned = window(),
          .tuned_for_gpus = {"local"},
          .local = choose_local};
}

Strategy ps_strategy() {
  return {.name = "ps",
          .summary = "parameter server on the CPU machines",
          .kind = StrategyKind::kServers,
          .look = {"#56B4E9", "P", ":"},
          .make = ps,
          .ops = summation_ops<Summing::kCpuMachines>,
          .grain = parts(),
          .tuned = window(),
          .tuned_for_gpus = {"local"},
          .local = choose_local,
          .updates = true};
}

Strategy colocated_ps_strategy() {
  return {.name = "colocated-ps",
          .summary = "parameter server on the GPU machines themselves",
          .kind = StrategyKind::kServers,
          .look = {"#777777", "X", "6 2 1 2"},
          .make = colocated_ps,
          .ops = summation_ops<Summing::kGpuMachines>,
          .grain = parts(),
          .tuned = window(),
          .tuned_for_gpus = {"local"},
          .local = choose_local,
          .updates = true};
}

Strategy mxnet_ps_strategy() {
  return {.name = "mxnet-ps",
          .summary = "parameter server of whole tensors, placed by a hash of their number",
          .kind = StrategyKind::kServers,
          .make = mxnet_plan,
          .ops = mxnet_ops,
          .settled = as_mxnet,
          .local = choose_local,
          .updates = true};
}

}  // namespace weir
