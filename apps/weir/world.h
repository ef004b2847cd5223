// The world that experiments run in.
#pragma once

#include <string>

#include "apps/weir/trial.h"

namespace weir {

/// The world that this program was built with, or what to do if with none.
Result<World> world();

/// What it is called, and the settings that its results depend on.
std::string world_name();
std::string world_settings();

}  // namespace weir
