// The operations that plans are made of: small, copyable, printable. An op works on slices of buffers, which
// it names by number. Only a world knows addresses.
#pragma once

#include <cstdint>

#include "core/base/dtype.h"
#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/cluster/cluster.h"
#include "core/plan/op_kind.h"

namespace weir {

/// A buffer of a plan. A host buffer lies in the memory of one NUMA node. A GPU buffer has one replica of the
/// same size on every GPU of its machine.
struct Buffer {
  enum class Role {
    kGradient,     // backward writes it; when forward reads it, it holds the sum of all machines
    kStaging,      // a host copy of the machine's gradient, on its way out and in
    kAccumulator,  // where a machine builds a sum, if not in its staging memory
    kScratch,      // where messages land before they are summed
  };
  MachineId machine;
  Role role = Role::kGradient;
  Memory::Kind place = Memory::Kind::kHost;
  int numa = 0;      // of a host buffer: its NUMA node
  int replicas = 1;  // of a GPU buffer: the number of GPUs
  Bytes size;
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

/// Which replicas of its buffer a slice lies on. Groups of GPUs are listed in the plan.
struct Replicas {
  enum class Kind : std::uint8_t {
    kOne,     // a single replica: on the GPU `index`; 0 in a host buffer
    kEach,    // the whole slice on each GPU of the group `index`
    kShards,  // cut into nearly equal shares, one for each GPU of the group: share i on its i-th GPU
  };
  Kind kind = Kind::kOne;
  std::uint16_t index = 0;

  Replicas() = default;
  Replicas(int gpu) : index(static_cast<std::uint16_t>(gpu)) {}  // NOLINT: the replica on this GPU
  Replicas(Kind how, GroupId group) : kind(how), index(static_cast<std::uint16_t>(group.index())) {}
  static Replicas each(GroupId group) { return {Kind::kEach, group}; }
  static Replicas shards(GroupId group) { return {Kind::kShards, group}; }

  bool single() const { return kind == Kind::kOne; }
  /// The group, if the slice is not on a single replica.
  GroupId group() const { return GroupId(index); }
  friend bool operator==(const Replicas&, const Replicas&) = default;
};

/// Bytes of a buffer.
struct Slice {
  BufferId buffer;
  Replicas on;
  Bytes offset;
  Bytes size;
  Bytes end() const { return offset + size; }
  friend bool operator==(const Slice&, const Slice&) = default;
};

/// One operation on one machine. It reads `from` and writes `into`; a slice that its kind does not use stays
/// empty. A collective works in place on `into`, on each GPU of its group. A smaller priority is more urgent.
struct Op {
  OpId id;
  MachineId machine;
  OpKind kind = OpKind::kCopy;
  Dtype dtype = Dtype::kF32;
  std::int64_t priority = 0;
  int layer = -1;          // compute: which layer; communication: the layer of its part, for reports
  int root = 0;            // reduce and broadcast: the GPU
  int nic = 0;             // messages: the NIC of this machine; a share uses Cluster::nic_of_gpu instead
  MachineId peer;          // messages: the other machine
  MessageId message;       // messages: matches one send with one receive
  AllReduceId all_reduce;  // all-reduces: matches one op of each machine that takes part
  Slice from;
  Slice into;
  int passes = 0;     // update: how often it reads or writes each parameter or part of its state, in f32
  Duration duration;  // compute: how long it occupies the GPUs; wait: how long it occupies the scheduler;
                      // hold: how long it lasts
  friend bool operator==(const Op&, const Op&) = default;
};

/// The slice that the op writes; if it writes nothing, the slice that it reads.
inline const Slice& main_slice(const Op& op) { return writes_into(op.kind) ? op.into : op.from; }

}  // namespace weir
