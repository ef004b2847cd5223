// What CUDA makes of this host's GPUs when it is tried, for checks.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/real/compute/gpu/gpu_facts.h"
#include "core/base/result.h"

namespace weir::real {

struct GpuState {
  std::optional<CudaVersions> versions;            // none of a build without CUDA
  Result<std::vector<std::string>> ids;            // of the GPUs that this process may use
  Result<std::vector<std::pair<int, int>>> apart;  // pairs of them without access to each other's memory
  Result<void> pinned;                             // whether memory of this host could be pinned
  Result<std::string> nccl;                        // its version
};

/// Begins to use the first GPU, and pins 64 MiB of memory as engines do: seconds. A driver that is stuck may
/// hold up the call for long.
GpuState try_gpus();

}  // namespace weir::real
