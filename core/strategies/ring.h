// Ring all-reduce among machines (Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms, JPDC 2009):
// each bucket of fused tensors is cut into n chunks that travel once round the ring being summed and once
// more being spread.
#pragma once

#include "core/strategies/blocks/buckets.h"
#include "core/strategies/strategy.h"

namespace weir {

/// Rows of the table of strategies.
Strategy ring_strategy();
Strategy hierarchical_strategy();

/// The ring in host memory: the local stage brings each bucket there and back, CPUs sum.
/// Cost with n GPU machines and M bytes: 2(n-1) steps; 2(n-1)M/n sent and received by each NIC, (n-1)M/n
/// summed. CPU machines take no part.
Result<Plan> ring_plan(const Cluster& cluster, const Workload& workload, const Options& options);

/// Hierarchical all-reduce: reduce-scatter over the GPUs of each machine, a ring among machines for each
/// GPU's share straight from GPU to GPU, summed there, and all-gather. Cost per NIC as the ring's; no byte
/// passes host memory. Fails if GPU machines differ in their number of GPUs.
Result<Plan> hierarchical_plan(const Cluster& cluster, const Workload& workload, const Options& options,
                               const Buckets& buckets);

/// What either ring over GPUs is for layers that know nothing of each other (Options::independent_layers):
/// whoever hands them over keeps the memory of the gradients, so chunks go through host memory. Fails if a
/// machine has several GPUs.
Result<Plan> ring_of_tensors_plan(const Cluster& cluster, const Workload& workload, const Options& options,
                                  const Buckets& buckets);

/// About how many ops the hierarchical plan of so many buckets has.
double hierarchical_ops(const Cluster& cluster, double buckets);

}  // namespace weir
