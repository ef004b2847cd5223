// How fast messages leave for each peer, where a network shares its links otherwise than a plan needs.
#pragma once

#include <map>
#include <vector>

#include "backends/real/wire/channel.h"
#include "core/cluster/cluster.h"
#include "core/hardware/work.h"

namespace weir::real {

/// By machine.
using Paces = std::vector<std::map<Lane, BytesPerSecond>>;

/// The rates at which the messages of each lane would all be sent in the time that the plan's busiest link
/// needs, so that all exchanges end together and no link has more to carry than it can. None where no link
/// has a limit, nor for plans that are not to be paced (Plan::paced), as trees; nor if a message would take
/// longer by a tenth of that time, or the plan's longest chain of ops by half of it: whoever waits for large
/// messages, or for one after the other, needs each of them soon.
Paces paces(const Plan& plan, const Cluster& cluster, const WorkTable& works);

/// How many times slower than its NICs and uplinks the cluster `there` moves the plan's messages, which is
/// alike but for rates, if lanes are paced by the factor; 1 if that holds nothing back there.
double held_back(const Plan& plan, const Cluster& cluster, double factor, const Cluster& there);

/// Has each lane's data connections together send no faster than `factor` times its pace: by the kernel if it
/// is a single connection, and slow enough.
void pace(std::vector<Channel>& channels, const std::map<Lane, BytesPerSecond>& paces, double factor);

/// How many connections a lane takes where nothing else is said, as so many threads of each machine move
/// bytes and lanes are paced by the factor (0: not). One if kernels can pace all: it has the pace for itself,
/// so that one message moves as fast as many. One, too, of each of several lanes that cannot be paced
/// although that is asked for, if messages are so large that they would go in pieces. Else as many as keep
/// the threads evenly busy.
int channels_for(const Plan& plan, const Cluster& cluster, int threads, double factor);

}  // namespace weir::real
