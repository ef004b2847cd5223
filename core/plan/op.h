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

/// Bytes of a buffer. In a GPU buffer `replica` says which GPU holds them: one, every one, or each its shard
/// (the slice cut into as many nearly equal shares as there are replicas; GPU i holds share i).
struct Slice {
  static constexpr int kEvery = -1;
  static constexpr int kSharded = -2;
  BufferId buffer;
  int replica = 0;
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
  kCopy,           // into = from, between two memories of the machine
  kJoin,           // does nothing: stands for all that it waits for, so that many ops can wait for many
  kReduceScatter,  // over the machine's GPUs: afterwards GPU i holds share i of the sum of all replicas
  kAllGather,      // over the machine's GPUs: from shares to the whole on every GPU
  kReduce,         // over the machine's GPUs: the sum ends on GPU `root`
  kBroadcast,      // over the machine's GPUs: from GPU `root` to every GPU
};

/// The kind's name as plans print it: "send", "reduce-scatter", ...
std::string_view name(OpKind kind);

inline bool is_compute(OpKind kind) { return kind <= OpKind::kForward; }
inline bool is_message(OpKind kind) { return kind == OpKind::kSend || kind == OpKind::kReceive; }
inline bool is_collective(OpKind kind) { return kind >= OpKind::kReduceScatter; }

/// One operation on one machine. `from` is read and `into` written; kinds that have no such slice leave it
/// empty, a collective works in place on `into`. A smaller priority is more urgent.
struct Op {
  OpId id;
  MachineId machine;
  OpKind kind = OpKind::kCopy;
  Dtype dtype = Dtype::kF32;
  std::int64_t priority = 0;
  int layer = -1;     // compute: which layer; communication: the layer of its part, for reports
  int root = 0;       // reduce and broadcast: the GPU
  int nic = 0;        // messages: the NIC of this machine
  MachineId peer;     // messages: the other machine
  MessageId message;  // messages: matches one send with one receive
  Slice from;
  Slice into;
  Duration duration;  // compute: the time it occupies the GPUs
  friend bool operator==(const Op&, const Op&) = default;
};

}  // namespace weir
