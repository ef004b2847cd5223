// Runs one batch of a wiring in a network namespace.
#pragma once

#include <vector>

#include "backends/real/descriptor.h"
#include "backends/real/lab/wiring.h"

namespace weir::real {

/// Runs the batch in the namespace, with the machines' namespaces at the numbers that its lines name. Fails
/// with what the program complained of, or if it takes longer than a minute, unless the batch is not needed.
/// To be called from a process with one thread, whose children nobody else waits for.
Result<void> run_batch(const Wiring::Batch& batch, const Descriptor& space,
                       const std::vector<Descriptor>& machines);

}  // namespace weir::real
