// Collectives over groups of a machine's GPUs, through NCCL. Internal to this folder.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <vector>

#include "backends/real/compute/gpu/nccl.h"
#include "backends/real/memory/buffers.h"
#include "backends/real/memory/gpus.h"

namespace weir::real {

/// The groups that a plan names. Reductions have connections of their own, so that they run beside gathers.
/// One owner thread, so that all GPUs see collectives in one order, as NCCL demands.
class GpuGroups {
 public:
  /// Both arguments outlive this.
  GpuGroups(const Gpus& gpus, const Plan& plan) : gpus_(&gpus), plan_(&plan) {}
  GpuGroups(const GpuGroups&) = delete;
  GpuGroups& operator=(const GpuGroups&) = delete;
  ~GpuGroups();

  /// Connects the group's GPUs, if there are several and they are not connected yet. Takes NCCL about a
  /// second.
  Result<void> meet(GroupId group);
  /// Whether the group is connected. A group of one GPU never is, as it has nothing to do.
  bool has(GroupId group) const { return groups_.contains(group); }
  /// Hands a collective to the GPUs, on the streams of the group's members, in place as the plan says.
  Result<void> start(const Op& op, const Buffers& buffers, std::span<const cudaStream_t> streams) const;
  /// Ends everything; nothing can be started afterwards. With `by_force` it does not wait for what is under
  /// way.
  void end(bool by_force);

 private:
  using Members = std::vector<ncclComm_t>;
  struct Group {
    Members out;
    Members in;
  };

  const Gpus* gpus_;
  const Plan* plan_;
  const Nccl* nccl_ = nullptr;
  std::map<GroupId, Group> groups_;
};

}  // namespace weir::real
