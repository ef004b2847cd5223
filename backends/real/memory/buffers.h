// The buffers of one machine of a plan, in memory.
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

/// The replicas that messages from one machine to another arrive in, in order.
std::vector<Replica> landings(const Plan& plan, MachineId into, MachineId from);

/// A replica whose memory another process may map through the descriptor.
struct SharedReplica {
  Replica replica;
  Descriptor descriptor;
};

/// Who owns the memory of gradients (Buffer::Role::kGradient).
enum class GradientHome {
  kBuffers,      // these buffers
  kApplication,  // the application; these buffers do not know it
};

/// Replicas on GPUs are memory of these GPUs, or host memory that stands for it if the machine is given no
/// GPUs. All memory is allocated before the first op runs, on the plan's NUMA node if this host has it.
/// Neither copies nor moves. The ops decide which thread touches which bytes when.
class Buffers {
 public:
  /// Fails if the system or a GPU lacks memory for the machine's buffers. The plan must outlive them; so must
  /// the GPUs, if given: as many as the machine has.
  static Result<std::unique_ptr<Buffers>> make(const Plan& plan, MachineId machine, Gpus* gpus = nullptr,
                                               GradientHome gradients = GradientHome::kBuffers);
  /// The same, but other processes can map the memory that messages arrive in.
  static Result<std::unique_ptr<Buffers>> make_shared(const Plan& plan, MachineId machine,
                                                      Gpus* gpus = nullptr,
                                                      GradientHome gradients = GradientHome::kBuffers);
  /// Maps replicas of another machine, whose process has handed over their memory. Fails if the memory has
  /// not the size that the plan states. The descriptors may be closed afterwards.
  static Result<std::unique_ptr<Buffers>> map_shared(const Plan& plan,
                                                     const std::vector<SharedReplica>& replicas);
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  /// The descriptor of the replica's memory, owned by these buffers; none if it is not shared.
  std::optional<int> descriptor(const Replica& replica) const;

  /// The bytes of the extent, which must be of a buffer of this machine. Bytes on a GPU are for its engine
  /// only.
  std::span<std::byte> bytes(const Extent& extent) const;
  bool on_gpu(BufferId buffer) const;
  /// Copies an extent on a GPU from or to memory of this process, and waits for it.
  Result<void> load(const Extent& extent, std::span<std::byte> into) const;
  Result<void> store(std::span<const std::byte> from, const Extent& extent) const;

  /// For a replica on a GPU.
  Result<DmaBuf> dma_buf(const Replica& replica) const;
  /// Makes what NICs have written into the slice visible to its GPUs, if it is on some.
  Result<void> see_writes(const Slice& slice, Dtype dtype) const;

  /// The bytes of a slice, replica by replica: the shares of a sharded slice in order.
  std::vector<std::span<std::byte>> bytes(const Slice& slice, Dtype dtype) const;

 private:
  explicit Buffers(const Plan& plan) : plan_(&plan), homes_(plan.buffers().size()) {}
  static Result<std::unique_ptr<Buffers>> make(const Plan& plan, MachineId machine,
                                               const std::set<Replica>& shared, Gpus* gpus,
                                               GradientHome gradients);
  // The memory of one replica; none if it is not on this machine.
  struct Home {
    std::unique_ptr<Pages> pages;  // null on a GPU
    std::byte* data = nullptr;
  };

  const Plan* plan_;
  const Gpus* gpus_ = nullptr;            // for buffers on GPUs, if there are any
  std::vector<std::vector<Home>> homes_;  // [buffer][replica]
};

}  // namespace weir::real
