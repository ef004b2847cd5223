// Runs a plan on a simulated cluster: the nodes of all machines, their ports, and a fluid engine below.
#pragma once

#include <functional>

#include "core/cluster/cluster.h"
#include "core/fluid/conditions.h"
#include "core/fluid/engine.h"
#include "core/fluid/model.h"
#include "core/plan/plan.h"
#include "core/run/queue.h"
#include "core/run/record.h"

namespace weir {

struct SimulationSettings {
  Dispatch dispatch;
  Model model;
  int iterations = 1;
  Conditions conditions = {};
};

/// Sees each op as it completes, in order; for worlds that hold real data. A message is reported once, as its
/// send.
using Observer = std::function<void(const Op&)>;

/// Runs the plan's iterations on a fresh engine. Fails, and says why, if the run gets stuck (naming what
/// waits for what), if a machine fails for good, or if it breaks physics. The same arguments give the same
/// record, bit for bit.
Result<Record> simulate(const Plan& plan, const Cluster& cluster, const SimulationSettings& settings,
                        Engine& engine, const Observer& observer = {});

}  // namespace weir
