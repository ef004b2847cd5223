#include "core/strategies/nccl.h"

#include <vector>

#include "core/strategies/blocks/local_stage.h"
#include "core/strategies/blocks/placement.h"

namespace weir {

Result<Plan> nccl_plan(const Cluster& cluster, const Workload& workload, const Options& options,
                       const Buckets& buckets) {
  if (options.independent_layers)
    return failure(
        "collective 'nccl' needs one order on all machines, but a session's tensors come in any order");
  PlanBuilder plan(buckets.strategy, cluster.machines().size());
  plan.set_message_efficiency(options.allreduce_efficiency);
  LocalStages local(cluster, workload, options, no_local_stages(cluster), plan);
  const std::vector<Part> parts = buckets.parts();
  const std::vector<std::size_t> order =
      service_order(workload, parts, options, all_reduce_time(cluster, workload, options));
  Releases releases(buckets, order, local, plan);
  std::vector<OpId> last(cluster.machines().size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Part& bucket = parts[order[i]];
    const AllReduceId id = plan.add_all_reduce();
    for (const MachineId machine : cluster.gpu_machines()) {
      const OpId released = releases.release(machine, i);
      Op op = op_for(bucket, machine, OpKind::kAllReduce);
      op.all_reduce = id;
      op.into = {local.gradient(machine), Replicas::each(local.all_gpus(machine)), bucket.range.offset,
                 bucket.range.size};
      const OpId done = plan.add(op);
      plan.order(released, done);
      plan.order(last[machine.index()], done);
      last[machine.index()] = done;
      local.needed(machine, bucket, done);
      releases.done(machine, i, {done});
    }
  }
  local.close();
  return std::move(plan).build();
}

}  // namespace weir
