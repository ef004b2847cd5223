// Ring all-reduce over all GPUs of all machines, as NCCL's ring: it walks through the GPUs of one machine and
// on to the next.
#pragma once

#include "core/strategies/blocks/buckets.h"
#include "core/strategies/strategy.h"

namespace weir {

/// Its row of the table of strategies.
Strategy flat_ring_strategy();

/// Cost with N GPUs in all and M bytes: 2(N-1) steps; 2(N-1)M/N bytes over every hop, between GPUs of a
/// machine as between machines. CPU machines take no part.
Result<Plan> flat_ring_plan(const Cluster& cluster, const Workload& workload, const Options& options,
                            const Buckets& buckets);

/// About how many ops the plan of so many buckets has.
double flat_ring_ops(const Cluster& cluster, double buckets);

}  // namespace weir
