#include "apps/weir/world.h"

#ifdef WEIR_SIMGRID
#include "backends/sim/engine.h"
#include "backends/sim/world.h"
#endif

namespace weir {

#ifdef WEIR_SIMGRID

Result<World> world() { return World{sim::simulate}; }

std::string world_name() { return "SimGrid"; }

std::string world_settings() { return sim::Engine::settings(); }

#else

Result<World> world() {
  return failure(
      "this weir was built without SimGrid, which simulates clusters; install libsimgrid-dev (Debian, "
      "Ubuntu) and "
      "build it again");
}

std::string world_name() { return "none"; }

std::string world_settings() { return {}; }

#endif

}  // namespace weir
