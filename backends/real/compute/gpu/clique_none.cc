// For builds without CUDA: there are no GPUs that could meet.
#include "backends/real/compute/gpu/clique.h"

namespace weir::real {

struct Clique::Parts {};

void introduce_to_nccl(MachineId /*machine*/, const std::vector<std::string>& /*addresses*/) {}
Result<std::string> Clique::place() { return failure("this weir was built without CUDA"); }
Result<std::unique_ptr<Clique>> Clique::meet(const Gpus& /*gpus*/, const std::string& /*place*/,
                                             Member /*member*/, Duration /*patience*/,
                                             const std::function<Result<void>()>& /*watch*/) {
  return failure("this weir was built without CUDA");
}
Clique::Clique(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Clique::~Clique() = default;
Result<void> Clique::check(const Op& /*op*/, const Plan& /*plan*/) const { return well(); }
Result<void> Clique::start(const Op& /*op*/, const Plan& /*plan*/, const Buffers& /*buffers*/,
                           std::span<CUstream_st* const> /*streams*/,
                           const std::function<Result<void>()>& /*watch*/) {
  return well();
}
Result<void> Clique::well() const { return failure("this weir was built without CUDA"); }
void Clique::abandon() {}

}  // namespace weir::real
