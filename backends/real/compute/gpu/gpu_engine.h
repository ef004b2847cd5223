// What a machine's GPUs do: copies to and from host memory, sums in GPU memory and collectives (NCCL).
// Computation only keeps the GPUs busy for its time.
#pragma once

#include <functional>
#include <memory>
#include <shared_mutex>

#include "backends/real/compute/engine.h"
#include "backends/real/compute/gpu/clique.h"
#include "backends/real/memory/buffers.h"
#include "backends/real/memory/gpus.h"
#include "backends/real/process/inbox.h"

namespace weir::real {

/// Memory of an application on a GPU. A copy uses it in place of a gradient's memory.
struct Lent {
  std::span<std::byte> bytes;                // without the padding that the copy may have; empty if withdrawn
  void* after = nullptr;                     // a cudaEvent_t that must end before the copy starts, or null
  std::shared_lock<std::shared_mutex> held;  // until the copy has ended
};
/// Gives the memory for a copy that reads or writes a gradient. The engine's thread calls it, and calls it
/// again until `after` has ended.
using Lender = std::function<Lent(const Op& copy)>;

/// Each kind of work has its own stream on each GPU. So copies in both directions, collectives and
/// computation run side by side. Ops of one stream run in the order in which they were put. One thread hands
/// everything to CUDA and checks what has ended. So all GPUs see collectives in one order, as NCCL demands.
/// Collectives of a group of one GPU do nothing.
class GpuEngine final : public Engine {
 public:
  /// Prepares the machine's ops of this plan. All arguments outlive the engine. Pins the host memory that
  /// copies use, and connects the plan's groups of GPUs, which takes NCCL about a second. Fails if memory
  /// cannot be pinned, or if a group needs NCCL and it is missing. With a lender, the application owns the
  /// gradients. All-reduces over machines need a clique. The engine abandons it if one of them does not end.
  static Result<std::unique_ptr<GpuEngine>> make(Gpus& gpus, const Plan& plan, MachineId machine,
                                                 const Buffers& buffers, Inbox& inbox, Lender lender = {},
                                                 Clique* clique = nullptr);
  /// Waits some seconds for work that is under way.
  ~GpuEngine() override;

  void put(const Op& op, std::uint64_t round) override;

 private:
  struct Parts;
  explicit GpuEngine(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace weir::real
