// The topology of a host: one machine as found becomes a group of equal machines. Reports everything that had
// to be assumed.
#pragma once

#include <string>

#include "backends/real/discovery/host_parts.h"
#include "core/base/result.h"
#include "core/formats/nccl/nccl_attributes.h"
#include "core/formats/nccl/nccl_topology.h"

namespace weir::real {

struct TopologyWishes {
  std::string name;              // of the topology; if empty, the host's
  int count = 1;                 // how many such machines
  nccl::UserValues user_values;  // overrides what was measured
  std::string date;              // for the topology's source
};

/// A pure function. Rates of PCIe, NVLink and sockets are NCCL's, as in topologies imported from it. (PCIe's
/// are a quarter below the lanes' rate, for protocols.) Measured copies replace PCIe's rates. A bridge above
/// only one device is left out, and its limit applies to the device. Fails if there are to be several
/// machines but no NIC.
Result<Imported> host_topology(const HostParts& parts, const TopologyWishes& wishes);

}  // namespace weir::real
