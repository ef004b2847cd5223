// The step of a proof that shows that a plan is one for this cluster and this workload: that nobody and
// nothing is forgotten, and that all that it names exists.
#pragma once

#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
#include "core/plan/proof_errors.h"
#include "core/workload/workload.h"

namespace weir {

/// A memory of a machine that cannot hold the buffers that the plan keeps there.
struct Shortage {
  Memory memory;
  std::string name;  // "numa0"
  MachineId machine;
  Bytes taken;
  Bytes room;
};

/// All of them, by machine; of memories whose size the cluster states.
std::vector<Shortage> shortages(const Plan& plan, const Cluster& cluster);

/// Where the plan, whose structure is valid, does not fit: every machine with GPUs computes the gradient of
/// each layer and reads its sum, in all its bytes; NUMA nodes, GPUs and NICs exist; buffers fit into memories
/// whose size the cluster states.
ProofErrors fit_findings(const Plan& plan, const Cluster& cluster, const Workload& workload);

}  // namespace weir
