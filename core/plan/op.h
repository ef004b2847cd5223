// The operations that plans are made of: small, copyable, printable. An op works on slices of buffers that
// are named by number; only a world knows addresses.
#pragma once

#include <string>
#include <string_view>

#include "core/base/dtype.h"
#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/cluster/cluster.h"

namespace weir {

/// A buffer of a plan. A host buffer lies in the memory of one NUMA node; a GPU buffer has one replica of the
/// same size on every GPU of its machine.
struct Buffer {
  enum class Role {
    kGradient,     // written by backward, holds the sum of all machines when forward reads it
    kStaging,      // host copy of the machine's gradient on its way out and in
    kAccumulator,  // where a machine that only sums builds the sum
    kScratch,      // where messages land before they are summed
  };
  MachineId machine;
  Role role = Role::kGradient;
  Memory::Kind place = Memory::Kind::kHost;
  int numa = 0;      // of a host buffer
  int replicas = 1;  // of a GPU buffer: the number of GPUs
  Bytes size;
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

/// Which replicas of its buffer a slice lies on. Groups of GPUs are listed in the plan.
struct Replicas {
  enum class Kind : std::uint8_t {
    kOne,     // a single one: the GPU `index`; 0 in a host buffer
    kEach,    // the whole slice on each GPU of the group `index`
    kShards,  // cut into nearly equal shares, as many as the group has GPUs: share i on its i-th GPU
  };
  Kind kind = Kind::kOne;
  std::uint16_t index = 0;

  Replicas() = default;
  Replicas(int gpu) : index(static_cast<std::uint16_t>(gpu)) {}  // NOLINT: the one on this GPU
  Replicas(Kind how, GroupId group) : kind(how), index(static_cast<std::uint16_t>(group.index())) {}
  static Replicas each(GroupId group) { return {Kind::kEach, group}; }
  static Replicas shards(GroupId group) { return {Kind::kShards, group}; }

  bool single() const { return kind == Kind::kOne; }
  /// Of those that are not single.
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

enum class OpKind : std::uint8_t {
  kBackward,       // computes the gradient of `layer` into `into`, a different one on every GPU
  kForward,        // reads the summed gradient of `layer` from `from`, on every GPU
  kSend,           // sends `from` as `message` to `peer`
  kReceive,        // receives `message` from `peer` into `into`
  kSum,            // into += from, element by element, in one memory
  kUpdate,         // into = the parameters after an optimizer's step with the sum in it, in host memory
  kCopy,           // into = from, between two memories of the machine
  kJoin,           // does nothing: stands for all that it waits for, so that many ops can wait for many
  kWait,           // lets `duration` pass on the machine's scheduler, which handles one wait at a time
  kHold,           // lets `duration` pass beside whatever else the machine does
  kReduceScatter,  // over a group of GPUs: afterwards its i-th GPU holds share i of the sum over the group
  kAllGather,      // over a group of GPUs: from shares to the whole on each
  kReduce,         // over a group of GPUs: the sum ends on GPU `root`, one of them
  kBroadcast,      // over a group of GPUs: from GPU `root`, one of them, to each
  kAllReduce,      // over a group of GPUs of each of several machines: the sum over all of them on each; one
                   // op a machine, and how they do it is the world's matter
};

/// The kind's name as plans print it: "send", "reduce-scatter", ...
std::string_view name(OpKind kind);

inline bool is_compute(OpKind kind) { return kind <= OpKind::kForward; }
inline bool is_delay(OpKind kind) { return kind == OpKind::kWait || kind == OpKind::kHold; }
inline bool is_message(OpKind kind) { return kind == OpKind::kSend || kind == OpKind::kReceive; }
inline bool is_collective(OpKind kind) { return kind >= OpKind::kReduceScatter; }

/// One operation on one machine. `from` is read and `into` written; kinds that have no such slice leave it
/// empty, a collective works in place on `into`, on each GPU of its group. A smaller priority is more urgent.
struct Op {
  OpId id;
  MachineId machine;
  OpKind kind = OpKind::kCopy;
  Dtype dtype = Dtype::kF32;
  std::int64_t priority = 0;
  int layer = -1;          // compute: which layer; communication: the layer of its part, for reports
  int root = 0;            // reduce and broadcast: the GPU
  int nic = 0;             // messages: the NIC of this machine; that of a share is Cluster::nic_of_gpu
  MachineId peer;          // messages: the other machine
  MessageId message;       // messages: matches one send with one receive
  AllReduceId all_reduce;  // all-reduces: matches one op of each machine that takes part
  Slice from;
  Slice into;
  int passes = 0;     // update: how often each parameter or part of its state is read or written, in f32
  Duration duration;  // compute: the time it occupies the GPUs; wait: the scheduler; hold: that passes
  friend bool operator==(const Op&, const Op&) = default;
};

}  // namespace weir
