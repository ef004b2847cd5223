// Turns what CUDA's calls return into Results. For this folder only.
#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "core/base/result.h"

namespace weir::real {

/// Fails with what was tried and CUDA's own message.
inline Result<void> tried(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return {};
  return failure(
      fmt::format("{}: {} (CUDA error {})", what, cudaGetErrorString(status), static_cast<int>(status)));
}

}  // namespace weir::real
