// Whether measurements are of the machines that a topology describes, as far as can be told: those of others
// would be fitted as well, and be wrong here.
#pragma once

#include <optional>
#include <string>

#include "core/cluster/topology.h"

namespace weir {

/// In what the run's cluster is no part of this one, whatever the numbers of machines and of GPUs in each;
/// none if it is. Rates of NICs may be off by half, as fitting them is the point, from what stands there or,
/// if it is one for both directions, stood there before calibrations that moved it.
std::optional<std::string> other_cluster(const Topology& topology, const Topology& run);

/// Why a fitted value makes one wonder whether it is of these machines: it is a rate, and far from what stood
/// there. None if it does not.
std::optional<std::string> doubt(const CalibratedValue& value);

}  // namespace weir
