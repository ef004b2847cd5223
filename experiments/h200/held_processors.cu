// A kernel that holds multiprocessors as NCCL's channels do: one block a channel, with as many threads and
// about as much shared memory, for as long as a collective is under way. It may also pass over memory at a
// given rate, as sums and copies of a collective do. Built and called by beside_collectives.py.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

constexpr int kThreads = 544;                      // 16 warps that work and one more, as in NCCL's rings
constexpr int kSharedMemory = 80 << 10;            // bytes
constexpr std::uint64_t kLongest = 5'000'000'000;  // ns; a kernel without an end would stop everything

__device__ std::uint64_t nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Each block reads `words` and adds them to `sums`, at most this fast, until `*stop` is set. Buffers have
// `count` words a block.
__global__ void hold(const volatile int* stop, const float4* words, float4* sums, std::size_t count,
                     double bytes_per_ns) {
  extern __shared__ char shared[];
  shared[threadIdx.x] = 0;
  const float4* mine = words + blockIdx.x * count;
  float4* into = sums + blockIdx.x * count;
  const std::uint64_t begin = nanoseconds();
  double moved = 0;
  std::size_t at = threadIdx.x;
  // One thread of a block looks at the flag, in GPU memory: many that look load what they wait for.
  while (__syncthreads_or(threadIdx.x == 0 && (*stop != 0 || nanoseconds() - begin > kLongest)) == 0) {
    if (bytes_per_ns <= 0 || moved > bytes_per_ns * static_cast<double>(nanoseconds() - begin)) {
      __nanosleep(500);
      continue;
    }
    for (int i = 0; i < 8; ++i) {
      const float4 one = mine[at];
      float4 sum = into[at];
      sum.x += one.x;
      sum.y += one.y;
      sum.z += one.z;
      sum.w += one.w;
      into[at] = sum;
      at += kThreads;
      if (at >= count) at = threadIdx.x;
    }
    moved += 8.0 * kThreads * 3 * sizeof(float4);
  }
}

}  // namespace

extern "C" int hold_processors(const int* stop, const void* words, void* sums, std::size_t count,
                               int channels, double bytes_per_ns, void* stream) {
  cudaFuncSetAttribute(hold, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedMemory);
  hold<<<channels, kThreads, kSharedMemory, static_cast<cudaStream_t>(stream)>>>(
      stop, static_cast<const float4*>(words), static_cast<float4*>(sums), count, bytes_per_ns / channels);
  return static_cast<int>(cudaGetLastError());
}
