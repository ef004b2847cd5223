// Where a NIC of this machine is.
#pragma once

#include <optional>

#include "core/cluster/topology.h"

namespace weir::real {

/// What the topology says of one of this machine's NICs.
struct NicPlace {
  std::optional<RdmaPortSpec> port;
  int numa = 0;  // the nearest node
};

}  // namespace weir::real
