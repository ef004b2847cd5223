// The resources that ops queue for, in simulated and real machines.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "core/base/ids.h"
#include "core/cluster/cluster.h"

namespace weir {

/// A resource that serves ops through one queue. A device serves one op at a time; a NIC limits the bytes
/// under way; a timer limits nothing.
struct Resource {
  enum class Kind : std::uint8_t {
    kCompute,        // all GPUs of a machine, computing
    kCollectiveOut,  // reduce-scatter and reduce, one at a time; index: the first GPU of the group
    kCollectiveIn,   // all-gather and broadcast, one at a time; index: the first GPU of the group
    kAllReduce,      // all-reduces over machines, one at a time
    kCopyOut,  // from GPUs to host memory; index: the GPU; for copies of shares, number of GPUs + first GPU
    kCopyIn,   // from host memory to GPUs; index: as for kCopyOut
    kCopyWithin,  // between GPUs, or within host memory; index: the source
    kHostSum,     // the cores of a NUMA node, which sum and update
    kGpuSum,      // a GPU's summation
    kScheduler,   // the machine's waits
    kTimer,       // the machine's holds, any number at a time
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
