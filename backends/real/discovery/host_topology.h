// The topology of a host: what was found of one machine becomes a group of equal machines. Whatever had to be
// assumed is told.
#pragma once

#include <string>

#include "backends/real/discovery/host_parts.h"
#include "core/base/result.h"
#include "core/formats/nccl/nccl_attributes.h"
#include "core/formats/nccl/nccl_topology.h"

namespace weir::real {

struct TopologyWishes {
  std::string name;     // of the topology; that of the host if empty
  int count = 1;        // how many such machines
  nccl::Unsaid unsaid;  // counts before what was measured
  std::string date;     // for the topology's source
};

/// A pure function. Rates of PCIe, NVLink and sockets are those that NCCL plans with, as in topologies that
/// are imported from it: PCIe's are a quarter below what lanes could carry, for what protocols take. Copies
/// that were measured take the place of PCIe's. Bridges that one device has for itself are left out, and the
/// device is as slow as they are. Fails if there are to be several machines, and no NIC.
Result<Imported> host_topology(const HostParts& parts, const TopologyWishes& wishes);

}  // namespace weir::real
