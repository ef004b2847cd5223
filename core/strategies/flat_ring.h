// Ring all-reduce over all GPUs of all machines, like NCCL's ring: it walks through the GPUs of one machine,
// then on to the next machine.
#pragma once

#include "core/strategies/blocks/buckets.h"
#include "core/strategies/strategy.h"

namespace weir {

/// Its row in the table of strategies.
Strategy flat_ring_strategy();

/// Cost with N GPUs in all and M bytes: 2(N-1) steps; 2(N-1)M/N bytes over every hop, between GPUs of a
/// machine and between machines alike. CPU machines take no part.
Result<Plan> flat_ring_plan(const Cluster& cluster, const Workload& workload, const Options& options,
                            const Buckets& buckets);

/// The approximate number of ops in a plan with this many buckets.
double flat_ring_ops(const Cluster& cluster, double buckets);

}  // namespace weir
