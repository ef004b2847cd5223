// Ring all-reduce among machines (Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms, JPDC 2009):
// each bucket of fused tensors is cut into n chunks. They travel round the ring twice: first being summed,
// then being spread.
#pragma once

#include "core/strategies/blocks/buckets.h"
#include "core/strategies/strategy.h"

namespace weir {

/// Rows in the table of strategies.
Strategy ring_strategy();
Strategy hierarchical_strategy();

/// The ring in host memory: the local stage brings each bucket there and back, and CPUs sum. Cost with n GPU
/// machines and M bytes: 2(n-1) steps; 2(n-1)M/n sent and received by each NIC, (n-1)M/n summed. CPU machines
/// take no part.
Result<Plan> ring_plan(const Cluster& cluster, const Workload& workload, const Options& options);

/// Hierarchical all-reduce: reduce-scatter over the GPUs of each machine; a ring among machines for each
/// GPU's share, directly from GPU to GPU and summed there; all-gather. Each NIC has the same cost as in the
/// ring. No byte passes through host memory. Fails if GPU machines differ in their number of GPUs.
Result<Plan> hierarchical_plan(const Cluster& cluster, const Workload& workload, const Options& options,
                               const Buckets& buckets);

/// Replaces either ring over GPUs for independent layers (Options::independent_layers). There the application
/// keeps the memory of the gradients, so chunks go through host memory. Fails if a machine has several GPUs.
Result<Plan> ring_of_tensors_plan(const Cluster& cluster, const Workload& workload, const Options& options,
                                  const Buckets& buckets);

/// The approximate number of ops in the hierarchical plan with this many buckets.
double hierarchical_ops(const Cluster& cluster, double buckets);

}  // namespace weir
