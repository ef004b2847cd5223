// The simulated world that experiments run in.
#pragma once

#include "apps/weir/trial.h"

namespace weir {

/// What shares links in simulation. SimGrid is the reference; Weir's own is faster.
enum class SimulationEngine { kSimGrid, kFluid };
/// SimGrid, if this program was built with it.
SimulationEngine default_engine();

/// Fails if this program was built without SimGrid, and that is asked for.
Result<World> simulated_world(SimulationEngine engine = default_engine());

}  // namespace weir
