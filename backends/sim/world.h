// The simulated world: runs a plan on a cluster in which SimGrid shares the links.
#pragma once

#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
#include "core/simulate/simulation.h"

namespace weir::sim {

/// The record of the run (core/simulate/simulation.h). One run at a time in a process.
Result<Record> simulate(const Plan& plan, const Cluster& cluster, const SimulationSettings& settings);
/// The same for several jobs on one cluster.
Result<SharedRun> simulate(const Cluster& cluster, std::span<const Job> jobs, int iterations,
                           const Conditions& conditions);

}  // namespace weir::sim
