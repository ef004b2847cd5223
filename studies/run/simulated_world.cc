#include "studies/run/simulated_world.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "core/run/world_names.h"
#include "core/simulate/engines/fluid_engines.h"

#ifdef WEIR_SIMGRID
#include "backends/sim/engine.h"
#include "backends/sim/world.h"
#endif

namespace weir {

namespace {

constexpr std::string_view kPrecision = "precision ";

Result<RunOutput> output_of(Result<SharedRun> run) {
  if (!run) return tl::unexpected(run.error());
  return RunOutput{.record = std::move(run->record), .ends_of_others = std::move(run->ends)};
}

// The run, by simulating only one machine; none if that is not possible.
std::optional<SharedRun> folded(const Planned& planned) {
  if (planned.jobs.size() > 1) return std::nullopt;
  Job job = planned.jobs.front();
  std::optional<WorkTable> works;
  if (!job.brings_works())
    job.works = &works.emplace(job.plan, job.subcluster.cluster, job.model.collectives);
  return simulate_folded(planned.whole, job, planned.settings.iterations, planned.settings.conditions);
}

World fluid_world(double precision) {
  const auto run = [precision](const Planned& planned) {
    if (std::optional<SharedRun> found = folded(planned)) return output_of(std::move(*found));
    const auto engine = fluid_engine(reached_rates(planned.whole, planned.jobs), precision);
    return output_of(simulate(planned.whole, planned.jobs, planned.settings.iterations,
                              planned.settings.conditions, *engine));
  };
  return World{.name = std::string(kFluidWorld),
               .settings = precision > 0.0 ? fmt::format("{}{}", kPrecision, precision) : std::string(),
               .run = run};
}

#ifdef WEIR_SIMGRID
Result<World> simgrid_world() {
  const auto run = [](const Planned& planned) {
    return output_of(
        sim::simulate(planned.whole, planned.jobs, planned.settings.iterations, planned.settings.conditions));
  };
  return World{.name = std::string(kSimGridWorld), .settings = sim::Engine::settings(), .run = run};
}
#else
Result<World> simgrid_world() {
  return failure(
      "this weir was built without SimGrid; install libsimgrid-dev (Debian, Ubuntu) and build it again, or "
      "use the fluid engine");
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

std::string words(const SimulationOptions& options) {
  if (options.engine == SimulationEngine::kSimGrid) return "";
  const std::string engine = fmt::format(" --engine {}", enum_name(options.engine));
  return options.precision > 0.0 ? fmt::format("{} --precision {}", engine, options.precision) : engine;
}

SimulationOptions simulation_of(const std::string& name, const std::string& settings) {
  SimulationOptions options{SimulationEngine::kSimGrid};
  if (name != kFluidWorld) return options;
  options.engine = SimulationEngine::kFluid;
  if (settings.starts_with(kPrecision))
    options.precision = std::strtod(settings.c_str() + kPrecision.size(), nullptr);
  return options;
}

Result<World> simulated_world(const SimulationOptions& options) {
  if (options.engine == SimulationEngine::kFluid) return fluid_world(options.precision);
  if (options.precision > 0.0)
    return failure("precision: only the fluid engine has this option; SimGrid sets its own precision");
  return simgrid_world();
}

}  // namespace weir
