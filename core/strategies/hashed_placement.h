// Placements by number, as other systems have them: blind to sizes, so that some machines sum more than
// others.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/shares.h"
#include "core/cluster/cluster.h"
#include "core/strategies/blocks/placement.h"
#include "core/workload/workload.h"

namespace weir {

/// The djb2 hash of the number's decimal digits (BytePS, common/global.cc).
std::uint64_t djb2(std::uint64_t number);

/// The slots that BytePS hashes into where colocated and separate servers are mixed.
constexpr std::uint64_t kMixedSlots = 101;

/// A part and the machine that sums it.
struct Assigned {
  Part part;
  MachineId owner;
};

/// BytePS: every tensor cut into parts of at most `partition`, with the key tensor x 65536 + part. Over one
/// kind of machine the key's hash chooses among them. With fewer CPU machines, k, than GPU machines, n, both
/// sum (mixed mode): the key falls into one of kMixedSlots slots; those below the fraction 2k(n-1) / (n^2 +
/// kn - 2k) belong to the CPU machines, and the slot's hash chooses one. So loads follow the optimal split in
/// steps of a slot, and the hashes of slots come out unevenly. As many CPU machines sum alone, and a GPU
/// machine that has no peer sums its own. Some machine must be one that sums. In order of readiness.
std::vector<Assigned> assign_as_byteps(const Cluster& cluster, const Workload& workload, Bytes partition,
                                       Summing summing);

/// MXNet's key-value store (kvstore_dist.h): whole tensors, the key times 9973 modulo the number of servers;
/// those of a million elements and more (MXNET_KVSTORE_BIGARRAY_BOUND) are cut evenly over all servers. The
/// pieces of a tensor have one priority, as MXNet hands tensors out, and takes them back, whole: a machine's
/// pieces for others are one part, which uses one of its NICs. (Pieces for itself, where GPU machines serve,
/// are apart.) In order of readiness.
std::vector<Assigned> assign_as_mxnet(const Workload& workload, const std::vector<MachineId>& servers);

/// TensorFlow's replica_device_setter: whole tensors, in the order of the model one machine after the other.
/// In order of readiness.
std::vector<Assigned> assign_in_turn(const Workload& workload, const std::vector<MachineId>& servers);

/// The CPU machines; the GPU machines where there are none.
const std::vector<MachineId>& mxnet_servers(const Cluster& cluster);

}  // namespace weir
