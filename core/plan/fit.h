// The step of a proof that shows that a plan fits its cluster and workload: no machine and no gradient is
// forgotten, and every device that the plan names exists.
#pragma once

#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
#include "core/plan/proof_errors.h"
#include "core/workload/workload.h"

namespace weir {

/// A memory that is too small for the buffers that the plan keeps there.
struct Shortage {
  Memory memory;
  std::string name;  // "numa0"
  MachineId machine;
  Bytes taken;
  Bytes room;
};

/// All shortages, by machine. Memories whose size the cluster does not state are not checked.
std::vector<Shortage> shortages(const Plan& plan, const Cluster& cluster);

/// Where the plan does not fit. Its structure must be valid. In a plan that fits, every machine with GPUs
/// computes every byte of each layer's gradient and reads every byte of its sum. NUMA nodes, GPUs and NICs
/// exist. Buffers fit into memories whose size the cluster states.
ProofErrors fit_findings(const Plan& plan, const Cluster& cluster, const Workload& workload);

}  // namespace weir
