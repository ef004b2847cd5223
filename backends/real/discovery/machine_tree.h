// A host's NUMA nodes and its tree of PCI devices, read by hwloc, with what /sys adds.
#pragma once

#include <string>

#include "backends/real/discovery/host_parts.h"
#include "core/base/result.h"

namespace weir::real {

struct TreeSource {
  std::string xml;  // a file of hwloc's (lstopo --of xml) in place of this host; empty for this host
  std::string sysfs = "/sys";
};

/// Everything but what NVML tells of GPUs. CPUs are those that this process may use. NICs that are not
/// devices (lo, veth, bridges, bonds) are left out. Fails if hwloc does, or cannot read the file.
Result<HostParts> read_machine(const TreeSource& source = {});

}  // namespace weir::real
