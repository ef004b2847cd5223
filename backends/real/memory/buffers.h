// The buffers of one machine of a plan, as bytes of this process.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "backends/real/memory/gpus.h"
#include "backends/real/memory/pages.h"
#include "backends/real/process/descriptor.h"
#include "core/base/result.h"
#include "core/plan/access.h"
#include "core/plan/plan.h"

namespace weir::real {

/// One replica of a buffer.
struct Replica {
  BufferId buffer;
  int number = 0;
  friend auto operator<=>(const Replica&, const Replica&) = default;
};

/// The replicas that messages from one machine into another land in, in order.
std::vector<Replica> landings(const Plan& plan, MachineId into, MachineId from);

/// A replica whose memory another process may map, through the descriptor.
struct SharedReplica {
  Replica replica;
  Descriptor descriptor;
};

/// Whose memory gradients (Buffer::Role::kGradient) lie in.
enum class GradientHome {
  kBuffers,      // these buffers have memory for them
  kApplication,  // whoever trains has it; these buffers know nothing of it
};

/// Replicas on GPUs are memory of these GPUs, or, of a machine that is given none, host memory that stands
/// for it. All of it is there before the first op runs, on the NUMA node that the plan says if this host has
/// that. Neither copies nor moves; ops decide which thread touches which bytes when.
class Buffers {
 public:
  /// Fails if the system or a GPU has no memory for the machine's buffers. The plan outlives them, and so do
  /// the GPUs, if there are any: as many as the machine has.
  static Result<std::unique_ptr<Buffers>> make(const Plan& plan, MachineId machine, Gpus* gpus = nullptr,
                                               GradientHome gradients = GradientHome::kBuffers);
  /// The same, but of memory that other processes can map where messages land.
  static Result<std::unique_ptr<Buffers>> make_shared(const Plan& plan, MachineId machine,
                                                      Gpus* gpus = nullptr,
                                                      GradientHome gradients = GradientHome::kBuffers);
  /// Replicas of another machine, whose process has handed over their memory. Fails if that is not as large
  /// as the plan says. The descriptors may be closed afterwards.
  static Result<std::unique_ptr<Buffers>> map_shared(const Plan& plan,
                                                     const std::vector<SharedReplica>& replicas);
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  /// What stands for the replica's memory, owned by these buffers; none if it is not shared.
  std::optional<int> descriptor(const Replica& replica) const;

  /// The bytes of the extent, which is of a buffer of this machine. On a GPU they are for its engine only.
  std::span<std::byte> bytes(const Extent& extent) const;
  bool on_gpu(BufferId buffer) const;
  /// Copies an extent that lies on a GPU to or from memory of this process, and waits for it.
  Result<void> load(const Extent& extent, std::span<std::byte> into) const;
  Result<void> store(std::span<const std::byte> from, const Extent& extent) const;

  /// Of a replica on a GPU.
  Result<DmaBuf> dma_buf(const Replica& replica) const;
  /// Has the GPUs of the slice, if it lies on some, see what NICs have written into it.
  Result<void> see_writes(const Slice& slice, Dtype dtype) const;

  /// The bytes of a slice, replica by replica: of a sharded one its shares in order.
  std::vector<std::span<std::byte>> bytes(const Slice& slice, Dtype dtype) const;

 private:
  explicit Buffers(const Plan& plan) : plan_(&plan), homes_(plan.buffers().size()) {}
  static Result<std::unique_ptr<Buffers>> make(const Plan& plan, MachineId machine,
                                               const std::set<Replica>& shared, Gpus* gpus,
                                               GradientHome gradients);
  // The memory of one replica; none if it is not here.
  struct Home {
    std::unique_ptr<Pages> pages;  // null on a GPU
    std::byte* data = nullptr;
  };

  const Plan* plan_;
  const Gpus* gpus_ = nullptr;            // on which GPU buffers lie, if they do
  std::vector<std::vector<Home>> homes_;  // [buffer][replica]
};

}  // namespace weir::real
