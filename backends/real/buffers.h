// The buffers of one machine of a plan, as bytes of this process.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/plan/access.h"
#include "core/plan/plan.h"

namespace weir::real {

/// Replicas on GPUs are host memory too: a machine without CUDA computes on its CPUs. All of it is there
/// before the first op runs. Neither copies nor moves; ops decide which thread touches which bytes when.
class Buffers {
 public:
  /// Fails if the system has no memory for the machine's buffers. The plan outlives the memory.
  static Result<std::unique_ptr<Buffers>> make(const Plan& plan, MachineId machine);
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers();

  /// The bytes of the extent, which is of a buffer of this machine.
  std::span<std::byte> bytes(const Extent& extent) const;

  /// The bytes of a slice, replica by replica: of a sharded one its shares in order.
  std::vector<std::span<std::byte>> bytes(const Slice& slice, Dtype dtype) const;

 private:
  struct Block {
    std::byte* begin = nullptr;
    std::size_t size = 0;
  };
  explicit Buffers(const Plan& plan) : plan_(&plan) {}

  const Plan* plan_;
  std::vector<std::vector<Block>> buffers_;  // [buffer][replica]; empty for those of other machines
};

}  // namespace weir::real
