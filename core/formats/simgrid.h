// Writes a cluster as a platform file of SimGrid, for SimGrid's other simulators and tools.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/cluster/topology.h"

namespace weir {

/// Memories become hosts ("gpu[0].numa0", "gpu[0].gpu3"). Links and routes are those of the cluster, with the
/// same names, rates and latencies; each direction is a link of its own. If the latency of a route exceeds
/// that of its links, an additional "delay" link has the rest and limits no rate.
Result<std::string> simgrid_platform(const Topology& topology);

/// The NIC that the platform's routes use for a memory. A platform has only one route between two hosts, so
/// memories near several NICs are distributed over these in turn.
int platform_nic(const Cluster& cluster, MachineId machine, Memory memory);

}  // namespace weir
