// Estimates of the number of ops in plans, before they are made.
#pragma once

#include "core/cluster/cluster.h"
#include "core/strategies/blocks/options.h"
#include "core/workload/workload.h"

namespace weir {

/// The number of machines with GPUs, and of all their GPUs.
double gpu_machine_count(const Cluster& cluster);
double gpu_count(const Cluster& cluster);

/// The number of pieces of at most this size in the model.
double pieces(const Workload& workload, Bytes each);
/// The number of buckets of fused_buckets().
double fused_pieces(const Workload& workload, const Options& options);

/// The number of ops of a plan in which every machine sends each part of this size to one other and gets it
/// back. Each part is reduced over GPUs, copied out, sent, received, summed, sent, received, copied in and
/// spread.
double ops_of_parts(const Cluster& cluster, const Workload& workload, Bytes part);
/// The same for this number of parts.
double ops_of_parts(const Cluster& cluster, double parts);

/// Ops of each machine for a chunk that is summed and spread: it sends and receives it twice and sums it
/// once.
inline constexpr double kOpsPerChunk = 5;

}  // namespace weir
