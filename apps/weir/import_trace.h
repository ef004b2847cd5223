// The formats of weir import that become traces.
#pragma once

#include "apps/weir/commands.h"

namespace weir {

/// Adds each format to `weir import`.
void add_trace_imports(CLI::App& command, ExitStatus& status);

}  // namespace weir
