// Reads a host's NUMA nodes and its tree of PCI devices with hwloc, and adds what /sys knows.
#pragma once

#include <string>

#include "backends/real/discovery/host_parts.h"
#include "core/base/result.h"

namespace weir::real {

struct TreeSource {
  std::string xml;  // a file of lstopo --of xml; empty: this host
  std::string sysfs = "/sys";
};

/// All parts, except what NVML knows about GPUs. CPUs are those that this process may use. Leaves out NICs
/// that are not devices (lo, veth, bridges, bonds). Fails if hwloc does, or cannot read the file.
Result<HostParts> read_machine(const TreeSource& source = {});

}  // namespace weir::real
