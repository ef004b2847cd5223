// About how many ops plans have, before they are made.
#pragma once

#include "core/cluster/cluster.h"
#include "core/strategies/blocks/options.h"
#include "core/workload/workload.h"

namespace weir {

/// The machines that have GPUs, and all their GPUs.
double gpu_machine_count(const Cluster& cluster);
double gpu_count(const Cluster& cluster);

/// The pieces of at most this size that the model falls into.
double pieces(const Workload& workload, Bytes each);
/// The buckets of fused_buckets().
double fused_pieces(const Workload& workload, const Options& options);

/// The ops of a plan in which every machine sends each part of this size to one other and gets it back: a
/// part is reduced over GPUs, copied out, sent, received, summed, sent, received, copied in and spread.
double ops_of_parts(const Cluster& cluster, const Workload& workload, Bytes part);

/// What each machine does with a chunk that is summed and spread: it sends and receives it twice and sums it
/// once.
inline constexpr double kOpsPerChunk = 5;

}  // namespace weir
