#include "apps/weir/world.h"

#ifdef WEIR_SIMGRID
#include "backends/sim/engine.h"
#include "backends/sim/world.h"
#endif

namespace weir {

#ifdef WEIR_SIMGRID

Result<World> simulated_world() {
  const auto run = [](const Planned& planned) {
    return sim::simulate(planned.plan, planned.cluster, planned.settings);
  };
  return World{"SimGrid", sim::Engine::settings(), run};
}

#else

Result<World> simulated_world() {
  return failure(
      "this weir was built without SimGrid, which simulates clusters; install libsimgrid-dev (Debian, "
      "Ubuntu) and build it again");
}

#endif

}  // namespace weir
