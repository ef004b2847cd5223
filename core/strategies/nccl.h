// All-reduce over all GPUs of all machines by NCCL itself: one op on each machine for each bucket. On real
// machines NCCL runs it, so this is what frameworks do without Weir. Simulated machines model it as NCCL's
// ring.
#pragma once

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
#include "core/strategies/blocks/buckets.h"
#include "core/strategies/blocks/options.h"
#include "core/workload/workload.h"

namespace weir {

/// One bucket after the other, in the order in which they are expected to be served. Cost with N GPUs in all
/// and M bytes: 2(N-1)M/N bytes over every hop of the ring. CPU machines take no part.
Result<Plan> nccl_plan(const Cluster& cluster, const Workload& workload, const Options& options,
                       const Buckets& buckets);

}  // namespace weir
