// The simulated world that experiments run in.
#pragma once

#include <array>

#include "core/document/fields.h"
#include "studies/run/trial.h"

namespace weir {

/// The engine that shares links in simulation. SimGrid is the reference; Weir's own is faster.
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

/// As on a command line, such as " --engine fluid"; empty for SimGrid.
std::string words(const SimulationOptions& options);
/// The options of a simulated world with this name and these settings.
SimulationOptions simulation_of(const std::string& name, const std::string& settings);

/// Fails if SimGrid is requested but this program was built without it, or if a precision is requested of
/// SimGrid.
Result<World> simulated_world(const SimulationOptions& options = {});

}  // namespace weir
