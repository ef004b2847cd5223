// What a build without CUDA says about GPUs.
#include "backends/real/compute/gpu/gpu_facts.h"

namespace weir::real {
namespace {

tl::unexpected<Error> without_cuda() { return failure("this weir was built without CUDA"); }

}  // namespace

std::optional<CudaVersions> cuda_versions() { return std::nullopt; }
Result<std::vector<std::string>> gpu_ids() { return without_cuda(); }
Result<std::vector<std::pair<int, int>>> gpus_apart() { return without_cuda(); }
Result<std::string> nccl_version() { return without_cuda(); }

}  // namespace weir::real
