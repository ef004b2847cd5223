// A cluster as a platform file of SimGrid, for its other simulators and tools; docs/guide.md says which.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/cluster/topology.h"

namespace weir {

/// Hosts are memories ("gpu[0].numa0", "gpu[0].gpu3"), links those of the cluster, each way of its own and
/// with its own name, and routes those of the cluster: the same links, rates and latencies. What a route's
/// latency holds beyond that of its links stands in "delay" links that bound no rate.
Result<std::string> simgrid_platform(const Topology& topology);

/// The NIC through which the platform's routes leave and enter a memory: a platform has one route for two
/// hosts, so memories near several NICs are dealt out among them in turn.
int platform_nic(const Cluster& cluster, MachineId machine, Memory memory);

}  // namespace weir
