// Stands for GPUs in a build without CUDA.
#include "backends/real/memory/gpus.h"

namespace weir::real {
namespace {

tl::unexpected<Error> without_cuda() { return failure("this weir was built without CUDA"); }

}  // namespace

Result<int> gpu_count() { return without_cuda(); }

Result<std::unique_ptr<GpuMoment>> GpuMoment::record(int /*device*/, void* /*stream*/) {
  return without_cuda();
}
GpuMoment::~GpuMoment() = default;
Result<void> copy_in_stream(int /*device*/, void* /*stream*/, void* /*into*/, const void* /*from*/,
                            Bytes /*size*/) {
  return without_cuda();
}

Result<std::unique_ptr<Gpus>> Gpus::open(const std::vector<int>& /*devices*/) { return without_cuda(); }
Gpus::~Gpus() = default;
Result<std::byte*> Gpus::allocate(int /*gpu*/, Bytes /*size*/) { return without_cuda(); }
Result<void> Gpus::pin(std::span<std::byte> /*memory*/) { return without_cuda(); }
void Gpus::unpin(std::span<std::byte> /*memory*/) {}
Result<DmaBuf> Gpus::dma_buf(std::span<std::byte> /*memory*/) { return without_cuda(); }
Result<void> Gpus::see_writes(int /*gpu*/) const { return without_cuda(); }
Result<void> Gpus::copy(int /*gpu*/, std::span<std::byte> /*into*/,
                        std::span<const std::byte> /*from*/) const {
  return without_cuda();
}

}  // namespace weir::real
