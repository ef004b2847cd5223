// What a topology of this host wants to know and nobody tells: measured here and now.
#pragma once

#include "backends/real/discovery/host_parts.h"
#include "core/base/result.h"

namespace weir {

/// Writes into the parts how fast each NUMA node's CPUs sum, what its memory moves, and what GPUs copy; each
/// is told on the error stream, as is what cannot be measured. Takes some seconds, all CPUs, and 192 MiB of
/// memory. Fails where a NUMA node's memory or CPUs cannot be used.
Result<void> measure_parts(real::HostParts& parts);

}  // namespace weir
