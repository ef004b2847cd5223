#include "apps/weir/world.h"

#include <memory>

#include "core/fluid/fluid_engine.h"
#include "core/fluid/rough_engine.h"
#include "core/run/world_names.h"

#ifdef WEIR_SIMGRID
#include "backends/sim/engine.h"
#include "backends/sim/world.h"
#endif

namespace weir {

namespace {

Result<Lived> lived(Result<SharedRun> run) {
  if (!run) return tl::unexpected(run.error());
  return Lived{.record = std::move(run->record), .ends_of_others = std::move(run->ends)};
}

World fluid_world(double precision) {
  const auto run = [precision](const Planned& planned) {
    const std::unique_ptr<Engine> engine =
        fluid_engine(reached_rates(planned.whole, planned.jobs), precision);
    return lived(simulate(planned.whole, planned.jobs, planned.settings.iterations,
                          planned.settings.conditions, *engine));
  };
  return World{.name = std::string(kFluidWorld),
               .settings = precision > 0.0 ? fmt::format("precision {}", precision) : std::string(),
               .run = run};
}

#ifdef WEIR_SIMGRID
Result<World> simgrid_world() {
  const auto run = [](const Planned& planned) {
    return lived(
        sim::simulate(planned.whole, planned.jobs, planned.settings.iterations, planned.settings.conditions));
  };
  return World{.name = std::string(kSimGridWorld), .settings = sim::Engine::settings(), .run = run};
}
#else
Result<World> simgrid_world() {
  return failure(
      "this weir was built without SimGrid; install libsimgrid-dev (Debian, Ubuntu) and build it again, or "
      "take --engine fluid");
}
#endif

}  // namespace

SimulationEngine default_engine() {
#ifdef WEIR_SIMGRID
  return SimulationEngine::kSimGrid;
#else
  return SimulationEngine::kFluid;
#endif
}

Result<World> simulated_world(const SimulationOptions& options) {
  if (options.engine == SimulationEngine::kFluid) return fluid_world(options.precision);
  if (options.precision > 0.0) return failure("--precision: it is for --engine fluid; SimGrid has its own");
  return simgrid_world();
}

}  // namespace weir
