#include "backends/real/compute/gpu/gpu_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "backends/real/compute/gpu/nccl.h"
#include "backends/real/memory/cuda.h"
#include "backends/real/memory/gpus.h"

namespace weir::real {

std::optional<CudaVersions> cuda_versions() {
  CudaVersions versions;
  versions.built = CUDART_VERSION;
  if (cudaDriverGetVersion(&versions.driver) != cudaSuccess) versions.driver = 0;
  return versions;
}

Result<std::vector<std::string>> gpu_ids() {
  const auto count = gpu_count();
  if (!count) return tl::unexpected(count.error());
  std::vector<std::string> ids;
  for (int device = 0; device < *count; ++device) {
    std::array<char, 32> id{};
    if (auto asked = tried(cudaDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()), device),
                           fmt::format("device {}", device));
        !asked)
      return tl::unexpected(asked.error());
    std::string text(id.data());
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    ids.push_back(std::move(text));
  }
  return ids;
}

Result<std::vector<std::pair<int, int>>> gpus_apart() {
  const auto count = gpu_count();
  if (!count) return tl::unexpected(count.error());
  std::vector<std::pair<int, int>> apart;
  for (int from = 0; from < *count; ++from) {
    for (int into = 0; into < *count; ++into) {
      if (from == into) continue;
      int reached = 0;
      if (auto asked = tried(cudaDeviceCanAccessPeer(&reached, from, into), "access to peers"); !asked)
        return tl::unexpected(asked.error());
      if (reached == 0) apart.emplace_back(from, into);
    }
  }
  return apart;
}

Result<std::string> nccl_version() {
  const auto nccl = Nccl::load();
  if (!nccl) return tl::unexpected(nccl.error());
  int version = 0;  // 22105 for 2.21.5
  if (const auto asked = (*nccl)->tried((*nccl)->get_version(&version), "NCCL's version"); !asked)
    return tl::unexpected(asked.error());
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace weir::real
