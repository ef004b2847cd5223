// weir export goal: writes a plan for simulators that read the GOAL format.
#pragma once

#include "apps/weir/commands.h"

namespace weir {

/// Adds the command to `weir export`.
void add_export_goal(CLI::App& command, ExitStatus& status);

}  // namespace weir
