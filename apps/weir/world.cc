#include "apps/weir/world.h"

#ifdef WEIR_SIMGRID
#include "backends/sim/engine.h"
#include "backends/sim/world.h"
#endif

namespace weir {

#ifdef WEIR_SIMGRID

Result<World> simulated_world() {
  const auto run = [](const Planned& planned) -> Result<Lived> {
    auto record = sim::simulate(planned.plan, planned.cluster, planned.settings);
    if (!record) return tl::unexpected(record.error());
    return Lived{.record = std::move(*record)};
  };
  return World{.name = "SimGrid", .settings = sim::Engine::settings(), .run = run};
}

#else

Result<World> simulated_world() {
  return failure(
      "this weir was built without SimGrid, which simulates clusters; install libsimgrid-dev (Debian, "
      "Ubuntu) and build it again");
}

#endif

}  // namespace weir
