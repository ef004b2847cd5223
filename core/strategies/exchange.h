// The ops of a plan in which each part is summed on one machine: every worker pushes its gradient to the
// part's owner, and pulls the sum.
#pragma once

#include <string>
#include <vector>

#include "core/strategies/blocks/local_stage.h"
#include "core/strategies/placed_parts.h"

namespace weir {

/// The plan for parts with this placement. If a machine's stage is kApart, each of its GPUs is a separate
/// worker. In that case, and if the options set update_barrier, no GPU machine may own a part.
Plan exchange_plan(std::string name, const Cluster& cluster, const Workload& workload, const Options& options,
                   const LocalStageOf& stages, const Shares& shares, std::vector<PlacedPart> parts);

}  // namespace weir
