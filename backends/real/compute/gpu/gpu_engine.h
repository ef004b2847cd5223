// What a machine's GPUs do: copies between their memories and the host's, sums in theirs, collectives over
// them (NCCL), and computation as time during which they are busy.
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

/// Memory of an application on a GPU, which stands for what a copy reads or writes of a gradient.
struct Lent {
  std::span<std::byte> bytes;                // perhaps fewer than the copy's: there are no more; none if it
                                             // has been taken back
  void* after = nullptr;                     // a cudaEvent_t: once it has ended; null if there is none
  std::shared_lock<std::shared_mutex> held;  // until the copy has ended
};
/// Of a copy that reads or writes a gradient. Called by the engine's thread, again until `after` has ended.
using Lender = std::function<Lent(const Op& copy)>;

/// Each kind of work has a stream of its own on each GPU, so that both directions of copies, collectives and
/// computation go on side by side; ops of one stream follow each other in the order in which they are put.
/// One thread hands everything to CUDA and watches for what has ended: so all GPUs see collectives in one
/// order, as NCCL demands. A group of one GPU has nothing to do.
class GpuEngine final : public Engine {
 public:
  /// The machine's ops of this plan; all arguments outlive the engine. Host memory that copies use is pinned
  /// now, and the groups of GPUs that the plan names meet, which takes NCCL a second or so. Fails where
  /// memory cannot be pinned, or a group needs NCCL and there is none. With a lender gradients are the
  /// application's. All-reduces over machines need a clique, which is abandoned where one of them does not
  /// end.
  static Result<std::unique_ptr<GpuEngine>> make(Gpus& gpus, const Plan& plan, MachineId machine,
                                                 const Buffers& buffers, Inbox& inbox, Lender lender = {},
                                                 Clique* clique = nullptr);
  /// Waits for what is under way, as far as it ends within some seconds.
  ~GpuEngine() override;

  void put(const Op& op, std::uint64_t round) override;

 private:
  struct Parts;
  explicit GpuEngine(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace weir::real
