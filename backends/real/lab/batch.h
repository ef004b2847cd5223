// Runs one batch of a wiring in a network namespace.
#pragma once

#include <string>
#include <vector>

#include "backends/real/lab/wiring.h"
#include "backends/real/process/descriptor.h"

namespace weir::real {

/// CPUs as the kernel reads them: hexadecimal 32-bit words, the highest first. At least one CPU.
std::string cpu_mask(const std::vector<int>& cpus);

/// Runs the batch in the namespace, with the machines' namespaces open as the files that its lines name.
/// Fails with the program's own error, or if it takes longer than a minute (5 s for a batch that is not
/// needed). Call it from a process with one thread that waits for no other children meanwhile.
Result<void> run_batch(const Wiring::Batch& batch, const Descriptor& space,
                       const std::vector<Descriptor>& machines);

}  // namespace weir::real
