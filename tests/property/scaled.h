// A cluster made faster or slower as a whole, for tests that compare the two.
#pragma once

#include "core/cluster/topology.h"
#include "core/workload/trace.h"

namespace weir::property {

/// All latencies zero.
Topology without_latencies(Topology topology);

/// All limited links `factor` times as fast.
Topology with_faster_links(Topology topology, int factor);

/// All limited rates of summation `factor` times as fast.
Topology with_faster_sums(Topology topology, int factor);

/// All times `factor` times as long.
Trace with_longer_times(Trace trace, int factor);

}  // namespace weir::property
