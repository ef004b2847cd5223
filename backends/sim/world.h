// The simulated world: runs a plan on a cluster, with SimGrid sharing the links.
#pragma once

#include "core/cluster/cluster.h"
#include "core/fluid/simulation.h"
#include "core/plan/plan.h"

namespace weir::sim {

/// The record of the run (core/fluid/simulation.h). One run at a time in a process.
Result<Record> simulate(const Plan& plan, const Cluster& cluster, const SimulationSettings& settings);

}  // namespace weir::sim
