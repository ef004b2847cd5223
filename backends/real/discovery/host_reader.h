// Finds everything on this host.
#pragma once

#include "backends/real/discovery/host_parts.h"
#include "core/base/result.h"

namespace weir::real {

/// By hwloc, /sys and NVML. Takes some tenths of a second, and longer where a driver has to wake GPUs.
Result<HostParts> read_host();

}  // namespace weir::real
