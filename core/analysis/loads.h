// How much a plan loads each machine and link, without simulation.
#pragma once

#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/hardware/work.h"
#include "core/plan/plan.h"
#include "core/strategies/blocks/options.h"
#include "core/workload/workload.h"

namespace weir {

/// The load of one iteration.
struct MachineLoad {
  Bytes in;            // received from other machines
  Bytes out;           // sent to them
  Bytes busiest_nic;   // through the busiest NIC, in its busier direction
  Bytes summed;        // bytes of operands added
  double share = 0.0;  // the fraction of everything that is summed
  Bytes host_memory;
  Bytes gpu_memory;  // on each GPU
};

std::vector<MachineLoad> machine_loads(const Plan& plan, const Cluster& cluster, const WorkTable& works);

/// A link or a summing device, and how long the plan occupies it.
struct Busiest {
  std::string name;
  Duration time;
};

Busiest busiest(const Plan& plan, const Cluster& cluster, const WorkTable& works);

/// The least time for which parts that are pushed, summed and pulled can occupy the busiest link or device:
/// the time of the optimal split (core/analysis/shares.h).
Result<Duration> ideal(const Cluster& cluster, const Workload& workload, const Options& options);

}  // namespace weir
