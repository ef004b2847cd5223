// Makes a whole cluster faster or slower, for tests that compare the two.
#pragma once

#include "core/cluster/topology.h"
#include "core/workload/trace.h"

namespace weir::property {

/// Sets all latencies to zero.
Topology without_latencies(Topology topology);

/// Makes all limited links `factor` times as fast.
Topology with_faster_links(Topology topology, int factor);

/// Makes all limited rates of summation `factor` times as fast.
Topology with_faster_sums(Topology topology, int factor);

/// Makes all times `factor` times as long.
Trace with_longer_times(Trace trace, int factor);

}  // namespace weir::property
