// What CUDA and NCCL say of themselves and of this host's GPUs, for who looks at a host before a run. Without
// CUDA there is nothing to say, which is told.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace weir::real {

/// As CUDA writes them: 12040 for 12.4.
struct CudaVersions {
  int built = 0;   // of the runtime in this program
  int driver = 0;  // the newest that the driver knows; 0 if there is no driver
};

/// None of a build without CUDA. Takes no GPU.
std::optional<CudaVersions> cuda_versions();

/// The GPUs that this process may use, by CUDA's numbers: their PCI ids, as Linux writes them
/// ("0000:3b:00.0"). Fails where gpu_count() does.
Result<std::vector<std::string>> gpu_ids();

/// Pairs of GPUs, by CUDA's numbers, of which one cannot reach the other's memory.
Result<std::vector<std::pair<int, int>>> gpus_apart();

/// "2.21.5". Fails as Nccl::load() does.
Result<std::string> nccl_version();

}  // namespace weir::real
