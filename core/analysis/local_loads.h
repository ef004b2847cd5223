// How much local stages load a machine per byte of model.
#pragma once

#include <map>

#include "core/strategies/blocks/local_stage.h"

namespace weir {

/// Bytes that pass each link; the cores of NUMA nodes are links too.
using LocalLoads = std::map<LinkId, double>;

/// The load of the way out and in of one byte of this dtype on the machine, averaged over its NICs, NUMA
/// nodes and schemes. Measured on the ops that LocalStages makes for it. `own`: for bytes that the machine
/// itself sums; only other bytes may take a direct way out.
LocalLoads local_loads(const Cluster& cluster, MachineId machine, LocalStage stage, Dtype dtype,
                       const Options& options, bool own);

}  // namespace weir
