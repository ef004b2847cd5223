// Facts from CUDA and NCCL about themselves and this host's GPUs, for inspecting a host before a run. In a
// build without CUDA the functions say so.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace weir::real {

/// In CUDA's notation: 12040 for 12.4.
struct CudaVersions {
  int built = 0;   // the runtime in this program
  int driver = 0;  // the newest that the driver supports; 0 if there is no driver
};

/// None in a build without CUDA. Occupies no GPU.
std::optional<CudaVersions> cuda_versions();

/// The PCI ids of the GPUs that this process may use, in the order of CUDA's numbers. Written as Linux writes
/// them: "0000:3b:00.0". Fails when gpu_count() does.
Result<std::vector<std::string>> gpu_ids();

/// Pairs of GPUs, by CUDA's numbers, that cannot access each other's memory.
Result<std::vector<std::pair<int, int>>> gpus_apart();

/// NCCL's version: "2.21.5". Fails as Nccl::load() does.
Result<std::string> nccl_version();

}  // namespace weir::real
