// How fast messages leave for each peer, where a network shares its links otherwise than a plan needs.
#pragma once

#include <vector>

#include "backends/real/links.h"
#include "core/cluster/cluster.h"
#include "core/fluid/work.h"

namespace weir::real {

/// By machine: the rate at which the node's messages for it would all be sent in the time that the plan's
/// busiest link needs, so that all exchanges end together and no link has more to carry than it can.
/// Unlimited where there are none, or no link has a limit.
std::vector<BytesPerSecond> paces(const Plan& plan, const Cluster& cluster, const WorkTable& works,
                                  MachineId self);

/// Has the channels' data connections send no faster than `factor` times their peer's pace, together.
void pace(const std::vector<Channel>& channels, const std::vector<BytesPerSecond>& paces, double factor);

}  // namespace weir::real
