// Placements by tensor number, as in other systems. They ignore sizes, so some machines sum more than others.
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

/// The number of slots that BytePS hashes into when it mixes colocated and separate servers.
constexpr std::uint64_t kMixedSlots = 101;

/// A part and the machine that sums it.
struct Assigned {
  Part part;
  MachineId owner;
};

/// BytePS: every tensor is cut into parts of at most `partition`, with the key tensor x 65536 + part. If only
/// one kind of machine sums, the key's hash chooses among these machines.
///
/// With fewer CPU machines, k, than GPU machines, n, both kinds sum (mixed mode). The key's hash selects one
/// of kMixedSlots slots. Slots below the fraction 2k(n-1) / (n^2 + kn - 2k) belong to the CPU machines; the
/// slot's hash chooses the machine. So loads follow the optimal split only in steps of a slot, and slots hash
/// unevenly.
///
/// With k >= n, the CPU machines sum alone. A GPU machine without a peer sums its own gradient. At least one
/// machine must be able to sum. The result is in order of readiness.
std::vector<Assigned> assign_as_byteps(const Cluster& cluster, const Workload& workload, Bytes partition,
                                       Summing summing);

/// MXNet's key-value store (kvstore_dist.h): whole tensors, on the server (key times 9973) modulo the number
/// of servers. Tensors of at least a million elements (MXNET_KVSTORE_BIGARRAY_BOUND) are cut evenly over all
/// servers.
///
/// The pieces of a tensor have one priority, because MXNet hands out tensors, and takes them back, as a
/// whole: a machine's pieces for others are one part, which uses one of its NICs. (If GPU machines are
/// servers, pieces for the machine itself are separate.) The result is in order of readiness.
std::vector<Assigned> assign_as_mxnet(const Workload& workload, const std::vector<MachineId>& servers);

/// TensorFlow's replica_device_setter: whole tensors, dealt to the machines in turn, in the order of the
/// model. The result is in order of readiness.
std::vector<Assigned> assign_in_turn(const Workload& workload, const std::vector<MachineId>& servers);

/// The CPU machines; if there are none, the GPU machines.
const std::vector<MachineId>& mxnet_servers(const Cluster& cluster);

}  // namespace weir
