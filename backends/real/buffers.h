// The buffers of one machine of a plan, as bytes of this process.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "backends/real/pages.h"
#include "core/base/result.h"
#include "core/plan/access.h"
#include "core/plan/plan.h"

namespace weir::real {

/// Replicas on GPUs are host memory too: a machine without CUDA computes on its CPUs. All of it is there
/// before the first op runs, on the NUMA node that the plan says if this host has that. Neither copies nor
/// moves; ops decide which thread touches which bytes when.
class Buffers {
 public:
  /// Fails if the system has no memory for the machine's buffers. The plan outlives them.
  static Result<std::unique_ptr<Buffers>> make(const Plan& plan, MachineId machine);
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  /// The bytes of the extent, which is of a buffer of this machine.
  std::span<std::byte> bytes(const Extent& extent) const;

  /// The bytes of a slice, replica by replica: of a sharded one its shares in order.
  std::vector<std::span<std::byte>> bytes(const Slice& slice, Dtype dtype) const;

 private:
  explicit Buffers(const Plan& plan) : plan_(&plan) {}

  const Plan* plan_;
  std::vector<std::vector<std::unique_ptr<Pages>>> pages_;  // [buffer][replica]; none of other machines
};

}  // namespace weir::real
