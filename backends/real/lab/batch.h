// Runs one batch of a wiring in a network namespace.
#pragma once

#include <string>
#include <vector>

#include "backends/real/lab/wiring.h"
#include "backends/real/process/descriptor.h"

namespace weir::real {

/// CPUs as the kernel reads them: hexadecimal words of 32, the highest first. At least one.
std::string cpu_mask(const std::vector<int>& cpus);

/// Runs the batch in the namespace, with the machines' namespaces at the numbers that its lines name. Fails
/// with what the program complained of, or if it takes longer than a minute, or than 5 s if it is not needed.
/// To be called from a process with one thread, whose children nobody else waits for.
Result<void> run_batch(const Wiring::Batch& batch, const Descriptor& space,
                       const std::vector<Descriptor>& machines);

}  // namespace weir::real
