// Makes a small lab to find out whether this host can have one.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

struct LabReadiness {
  Result<void> lab;     // or why there can be none
  Duration took;        // to make it and to end it
  Result<void> shares;  // whether machines can share CPUs by their cores
};

/// Makes a lab of two machines and ends it again: namespaces, ip and tc, shaped links, control groups. The
/// calling process must have one thread.
LabReadiness try_lab();

}  // namespace weir::real
