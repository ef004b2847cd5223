// Collectives over groups of a machine's GPUs, by NCCL. For this folder.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <vector>

#include "backends/real/compute/gpu/nccl.h"
#include "backends/real/memory/buffers.h"
#include "backends/real/memory/gpus.h"

namespace weir::real {

/// The groups that a plan names. Reductions have connections of their own, so that they go on beside what is
/// gathered. One owner thread; all GPUs so see collectives in one order, as NCCL demands.
class GpuGroups {
 public:
  /// Both outlive it.
  GpuGroups(const Gpus& gpus, const Plan& plan) : gpus_(&gpus), plan_(&plan) {}
  GpuGroups(const GpuGroups&) = delete;
  GpuGroups& operator=(const GpuGroups&) = delete;
  ~GpuGroups();

  /// Lets the group's GPUs meet, if they have not yet and are several. Takes NCCL a second or so.
  Result<void> meet(GroupId group);
  /// Whether it has met; of a group of one there is nothing to do.
  bool has(GroupId group) const { return groups_.contains(group); }
  /// Hands a collective to the GPUs, on the streams of its members: in place, as the plan says.
  Result<void> start(const Op& op, const Buffers& buffers, std::span<const cudaStream_t> streams) const;
  /// Nothing can be started any more. By force it does not wait for what is under way.
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
