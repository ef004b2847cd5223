// Weir's own kernels. Internal to this folder.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace weir::real {

/// Keeps `blocks` blocks of a GPU busy for `nanoseconds`, by the GPU's own clock.
cudaError_t launch_spin(int blocks, long long nanoseconds, cudaStream_t stream);

/// Same numbers as Dtype (core/base/dtype.h), which kernels cannot include.
enum class GpuElement { kF16, kBf16, kF32, kF64, kI32, kI64 };

/// into += from, element by element. f16 and bf16 are added in f32 and rounded once, to nearest, ties to
/// even. Integers wrap around.
cudaError_t launch_sum(GpuElement element, void* into, const void* from, std::size_t elements,
                       cudaStream_t stream);

}  // namespace weir::real
