// What ops of a simulated or real machine queue for.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "core/base/ids.h"
#include "core/cluster/cluster.h"

namespace weir {

/// A resource that serves ops through one queue. Devices serve one op at a time; a NIC bounds the bytes under
/// way; a timer bounds nothing.
struct Resource {
  enum class Kind : std::uint8_t {
    kCompute,        // all GPUs of a machine, computing
    kCollectiveOut,  // reduce-scatter and reduce, one at a time; by the first GPU of the group
    kCollectiveIn,   // all-gather and broadcast, one at a time; by the first GPU of the group
    kAllReduce,      // all-reduces over machines, one at a time
    kCopyOut,     // from GPUs to host memory; by the GPU, or of copies of shares by the first GPU after all
    kCopyIn,      // from host memory to GPUs; by GPU as well
    kCopyWithin,  // between GPUs, or within host memory; by source
    kHostSum,     // the cores of a NUMA node, which sum and update
    kGpuSum,      // a GPU's summation
    kScheduler,   // waits of a machine
    kTimer,       // its holds, any number at a time
    kNic,         // messages that leave through a NIC
  };
  MachineId machine;
  Kind kind = Kind::kCompute;
  int index = 0;
  friend auto operator<=>(const Resource&, const Resource&) = default;
};

/// The name for people: "gpu[3] compute", "cpu[0].numa0 sum", "gpu[3].nic0".
std::string name(const Resource& resource, const Cluster& cluster);

}  // namespace weir
