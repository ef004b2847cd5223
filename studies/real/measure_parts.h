// Measures what a topology of this host needs and the system does not report.
#pragma once

#include "backends/real/discovery/host_parts.h"
#include "core/base/result.h"
#include "studies/output/notice.h"

namespace weir {

/// Measures how fast each NUMA node's CPUs sum, what its memory moves and what GPUs copy, and writes the
/// rates into the parts. Reports each rate, and what cannot be measured, to `notice`. Takes some seconds, all
/// CPUs, and 192 MiB of memory. Fails if a NUMA node's memory or CPUs cannot be used.
Result<void> measure_parts(real::HostParts& parts, const Notice& notice);

}  // namespace weir
