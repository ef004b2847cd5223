// Ring all-reduce over all GPUs of all machines, as NCCL's ring: it walks through the GPUs of one machine and
// on to the next.
#pragma once

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
#include "core/strategies/blocks/buckets.h"
#include "core/strategies/blocks/options.h"
#include "core/workload/workload.h"

namespace weir {

/// Cost with N GPUs in all and M bytes: 2(N-1) steps; 2(N-1)M/N bytes over every hop, between GPUs of a
/// machine as between machines. CPU machines take no part.
Result<Plan> flat_ring_plan(const Cluster& cluster, const Workload& workload, const Options& options,
                            const Buckets& buckets);

}  // namespace weir
