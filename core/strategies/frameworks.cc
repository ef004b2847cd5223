#include "core/strategies/frameworks.h"

#include "core/strategies/blocks/buckets.h"
#include "core/strategies/blocks/op_counts.h"
#include "core/strategies/flat_ring.h"
#include "core/strategies/nccl.h"
#include "core/strategies/ring.h"

namespace weir {
namespace {

constexpr std::string_view kJoins =
    "it joins tensors into buckets, but a session sums each tensor separately";

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
  return failure("the collective is unknown");
}

double all_reduce_ops(const Cluster& cluster, const Options& options, double buckets) {
  switch (options.collective) {
    case Collective::kFlatRing:
      return flat_ring_ops(cluster, buckets);
    case Collective::kHierarchical:
      return hierarchical_ops(cluster, buckets);
    case Collective::kNccl:
      return gpu_machine_count(cluster) * buckets;
  }
  return 0;
}

Result<Plan> ddp(const Cluster& cluster, const Workload& workload, const Options& options) {
  return all_reduce(cluster, workload, options,
                    ddp_buckets(std::string(ddp_strategy().name), workload, options));
}

Result<Plan> horovod(const Cluster& cluster, const Workload& workload, const Options& options) {
  return all_reduce(cluster, workload, options,
                    horovod_buckets(std::string(horovod_strategy().name), cluster, workload, options));
}

Result<Plan> byte_scheduler(const Cluster& cluster, const Workload& workload, const Options& options) {
  return all_reduce(cluster, workload, options,
                    byte_scheduler_buckets(std::string(byte_scheduler_strategy().name), workload, options));
}

double ddp_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  const Buckets buckets = ddp_buckets(std::string(ddp_strategy().name), workload, options);
  return all_reduce_ops(cluster, options, static_cast<double>(buckets.buckets.size()));
}

double horovod_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  const Buckets buckets = horovod_buckets(std::string(horovod_strategy().name), cluster, workload, options);
  return all_reduce_ops(cluster, options, static_cast<double>(buckets.buckets.size()));
}

double byte_scheduler_ops(const Cluster& cluster, const Workload& workload, const Options& options) {
  double parts = 0;
  for (const Workload::Whole& tensor : workload.tensors())
    parts += static_cast<double>(tensor.part.range.size / options.partition_size + 1);
  return all_reduce_ops(cluster, options, parts);
}

}  // namespace

Options first_come(Options options) {
  options.policy = Policy::kFifo;
  options.credit.reset();
  return options;
}

Strategy ddp_strategy() {
  return {.name = "ddp",
          .summary = "PyTorch's buckets of whole tensors, first come, first served",
          .make = ddp,
          .ops = ddp_ops,
          .grain = {"bucket_size"},
          .settled = first_come,
          .tuned = {"bucket_size"},
          .cannot_train = kJoins};
}

Strategy horovod_strategy() {
  return {.name = "horovod",
          .summary = "tensors that become ready within a cycle are fused, first come, first served",
          .make = horovod,
          .ops = horovod_ops,
          .grain = {"fusion_buffer", "cycle_time"},
          .settled = first_come,
          .tuned = {"fusion_buffer", "cycle_time"},
          .cannot_train = kJoins};
}

Strategy byte_scheduler_strategy() {
  return {.name = "bytescheduler",
          .summary = "all-reduces of parts of tensors, by priority, a few at a time",
          .make = byte_scheduler,
          .ops = byte_scheduler_ops,
          .grain = {"partition_size"},
          .tuned = {"partition_size", "credit"}};
}

}  // namespace weir
