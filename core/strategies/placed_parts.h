// The parts that a summation plan exchanges: how finely tensors are cut, and which machine sums which part.
#pragma once

#include <vector>

#include "core/analysis/shares.h"
#include "core/strategies/blocks/options.h"
#include "core/strategies/blocks/placement.h"
#include "core/strategies/hashed_placement.h"
#include "core/workload/workload.h"

namespace weir {

/// The largest part that tensors are cut into: options.partition_size, or less (down to options.finest_part),
/// so that pipelines fill early and all NICs of a machine are equally busy.
Bytes part_size(const Cluster& cluster, const Workload& workload, const Options& options,
                const Shares& shares);

/// Parts of that size on the machines that have a share, in the order in which they are expected to be
/// served. Pieces of one part follow each other, and have its priority.
std::vector<PlacedPart> balanced_parts(const Cluster& cluster, const Workload& workload,
                                       const Options& options, const Shares& shares);

/// These parts, in the same order. The NICs of an owner take turns. Under first come, first served, parts of
/// one priority are pieces of one part.
std::vector<PlacedPart> assigned_parts(const Cluster& cluster, const Workload& workload,
                                       const Options& options, const Shares& shares,
                                       const std::vector<Assigned>& assigned);

}  // namespace weir
