// What local stages ask of a machine per byte of model.
#pragma once

#include <map>

#include "core/strategies/blocks/local_stage.h"

namespace weir {

/// Bytes that pass each link, the cores of NUMA nodes among them.
using LocalLoads = std::map<LinkId, double>;

/// The way out and in of a byte of this dtype on the machine, averaged over its NICs, NUMA nodes and schemes:
/// measured on the ops that LocalStages makes of it. `own` bytes are those that the machine itself sums,
/// others a way out that may be direct.
LocalLoads local_loads(const Cluster& cluster, MachineId machine, LocalStage stage, Dtype dtype,
                       const Options& options, bool own);

}  // namespace weir
