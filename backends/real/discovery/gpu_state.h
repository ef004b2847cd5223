// Tries CUDA with this host's GPUs, for checks.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/real/compute/gpu/gpu_facts.h"
#include "core/base/result.h"

namespace weir::real {

struct GpuState {
  std::optional<CudaVersions> versions;            // none in a build without CUDA
  Result<std::vector<std::string>> ids;            // ids of the GPUs that this process may use
  Result<std::vector<std::pair<int, int>>> apart;  // pairs of these without access to each other's memory
  Result<void> pinned;                             // whether host memory could be pinned
  Result<std::string> nccl;                        // its version
};

/// Starts to use the first GPU, and pins 64 MiB of memory as engines do. Takes seconds, and much longer if
/// the driver is stuck.
GpuState try_gpus();

}  // namespace weir::real
