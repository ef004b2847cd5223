// How fast messages leave for each peer, if the network shares its links differently than a plan needs.
#pragma once

#include <map>
#include <vector>

#include "backends/real/wire/channel.h"
#include "core/cluster/cluster.h"
#include "core/hardware/work.h"

namespace weir::real {

/// By machine.
using Paces = std::vector<std::map<Lane, BytesPerSecond>>;

/// The rate for each lane at which all its messages take as long as the plan's busiest link. So all exchanges
/// end together, and no link is overloaded. Empty if no link has a limit, or if the plan is not to be paced
/// (Plan::paced), such as trees. Empty too if pacing would delay large messages or chains: a message by more
/// than a tenth of that time, or the longest chain of ops by more than half of it. Such plans need each
/// message soon.
Paces paces(const Plan& plan, const Cluster& cluster, const WorkTable& works);

/// The slowdown by pacing on the cluster `there`, which differs from `cluster` only in rates: how many times
/// longer messages take than its NICs and uplinks need. Lanes are paced by the factor. 1 if pacing holds
/// nothing back there.
double held_back(const Plan& plan, const Cluster& cluster, double factor, const Cluster& there);

/// Limits each lane's data connections together to `factor` times the lane's pace. The kernel does so if the
/// lane has a single connection and the pace is slow enough.
void pace(std::vector<Channel>& channels, const std::map<Lane, BytesPerSecond>& paces, double factor);

/// How many connections a lane takes by default, if each machine has that many threads to move bytes and
/// lanes are paced by the factor (0: not paced). One if kernels can pace all lanes: a single connection has
/// the pace to itself, so one message moves as fast as many. Also one if there are several lanes, pacing is
/// asked for but impossible, and messages are so large that they would be cut into pieces. Otherwise enough
/// to keep the threads evenly busy.
int channels_for(const Plan& plan, const Cluster& cluster, int threads, double factor);

}  // namespace weir::real
