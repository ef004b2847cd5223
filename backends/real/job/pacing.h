// How fast messages leave for each peer, where a network shares its links otherwise than a plan needs.
#pragma once

#include <map>
#include <vector>

#include "backends/real/links.h"
#include "core/cluster/cluster.h"
#include "core/fluid/work.h"

namespace weir::real {

/// By machine.
using Paces = std::vector<std::map<Lane, BytesPerSecond>>;

/// The rates at which the messages of each lane would all be sent in the time that the plan's busiest link
/// needs, so that all exchanges end together and no link has more to carry than it can. None where no link
/// has a limit, or if the plan's longest chain of ops would become longer by half of that time: whoever waits
/// for one message after the other, as trees do, needs each of them soon.
Paces paces(const Plan& plan, const Cluster& cluster, const WorkTable& works);

/// Has data connections, one in each lane, send no faster than `factor` times the lane's pace.
void pace(const std::vector<Channel>& channels, const std::map<Lane, BytesPerSecond>& paces, double factor);

}  // namespace weir::real
