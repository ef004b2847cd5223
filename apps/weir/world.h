// The simulated world that experiments run in.
#pragma once

#include "apps/weir/trial.h"

namespace weir {

/// The one that this program was built with, or what to do if with none.
Result<World> simulated_world();

}  // namespace weir
