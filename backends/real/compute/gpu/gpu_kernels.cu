#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

#include "backends/real/compute/gpu/gpu_kernels.h"

namespace weir::real {
namespace {

constexpr int kThreads = 256;
constexpr std::size_t kMostBlocks = 1024;

__device__ unsigned long long now() {
  unsigned long long nanoseconds = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

__global__ void spin(long long nanoseconds) {
  const unsigned long long until = now() + static_cast<unsigned long long>(nanoseconds);
  while (now() < until) __nanosleep(200);
}

__device__ __half added(__half a, __half b) { return __float2half_rn(__half2float(a) + __half2float(b)); }
__device__ __nv_bfloat16 added(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __float2bfloat16_rn(__bfloat162float(a) + __bfloat162float(b));
}
__device__ float added(float a, float b) { return a + b; }
__device__ double added(double a, double b) { return a + b; }
__device__ unsigned added(unsigned a, unsigned b) { return a + b; }
__device__ unsigned long long added(unsigned long long a, unsigned long long b) { return a + b; }

template <class T>
__global__ void sum(T* into, const T* from, std::size_t elements) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < elements; i += step)
    into[i] = added(into[i], from[i]);
}

template <class T>
cudaError_t launch(void* into, const void* from, std::size_t elements, cudaStream_t stream) {
  const std::size_t blocks = std::min(kMostBlocks, (elements + kThreads - 1) / kThreads);
  if (blocks == 0) return cudaSuccess;
  sum<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(static_cast<T*>(into),
                                                              static_cast<const T*>(from), elements);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_spin(int blocks, long long nanoseconds, cudaStream_t stream) {
  spin<<<static_cast<unsigned>(blocks), 32, 0, stream>>>(nanoseconds);
  return cudaGetLastError();
}

cudaError_t launch_sum(GpuElement element, void* into, const void* from, std::size_t elements,
                       cudaStream_t stream) {
  switch (element) {
    case GpuElement::kF16:
      return launch<__half>(into, from, elements, stream);
    case GpuElement::kBf16:
      return launch<__nv_bfloat16>(into, from, elements, stream);
    case GpuElement::kF32:
      return launch<float>(into, from, elements, stream);
    case GpuElement::kF64:
      return launch<double>(into, from, elements, stream);
    case GpuElement::kI32:
      return launch<unsigned>(into, from, elements, stream);
    case GpuElement::kI64:
      return launch<unsigned long long>(into, from, elements, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace weir::real
