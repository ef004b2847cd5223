// weir export goal: a plan for simulators that read GOAL.
#pragma once

#include "apps/weir/commands.h"

namespace weir {

/// Adds it to `weir export`.
void add_export_goal(CLI::App& command, ExitStatus& status);

}  // namespace weir
