// The simulated world that experiments run in.
#pragma once

#include <array>

#include "apps/weir/trial.h"
#include "core/base/fields.h"

namespace weir {

/// What shares links in simulation. SimGrid is the reference; Weir's own is faster.
enum class SimulationEngine { kSimGrid, kFluid };

inline auto enum_names(SimulationEngine /*engine*/) {
  return std::array<Named<SimulationEngine>, 2>{
      {{SimulationEngine::kSimGrid, "simgrid"}, {SimulationEngine::kFluid, "fluid"}}};
}

/// SimGrid, if this program was built with it.
SimulationEngine default_engine();

struct SimulationOptions {
  SimulationEngine engine = default_engine();
  double precision = 0.0;  // of the fluid engine's rates
};

/// Fails if this program was built without SimGrid, and that is asked for, or a precision of SimGrid is.
Result<World> simulated_world(const SimulationOptions& options = {});

}  // namespace weir
