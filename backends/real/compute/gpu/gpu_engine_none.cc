// For builds without CUDA: there are no GPUs, so nobody puts anything.
#include "backends/real/compute/gpu/gpu_engine.h"

namespace weir::real {

struct GpuEngine::Parts {};

Result<std::unique_ptr<GpuEngine>> GpuEngine::make(Gpus& /*gpus*/, const Plan& /*plan*/,
                                                   MachineId /*machine*/, const Buffers& /*buffers*/,
                                                   Inbox& /*inbox*/, Lender /*lender*/, Clique* /*clique*/) {
  return failure("this weir was built without CUDA");
}
GpuEngine::GpuEngine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
GpuEngine::~GpuEngine() = default;
void GpuEngine::put(const Op& /*op*/, std::uint64_t /*round*/) {}

}  // namespace weir::real
