// Whether this host can have a lab, found out by making a small one.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

struct LabReadiness {
  Result<void> lab;     // or why there can be none
  Duration took;        // to make it and to take it down
  Result<void> shares;  // whether its machines can share CPUs by their cores, or why not
};

/// Makes a lab of two machines, and takes it down again: namespaces, ip and tc, shaped links, control groups.
/// The calling process must have one thread.
LabReadiness try_lab();

}  // namespace weir::real
