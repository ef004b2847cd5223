// Detects, as far as possible, measurements of other machines than the topology describes. They could be
// fitted as well, but the values would be wrong here.
#pragma once

#include <optional>
#include <string>

#include "core/cluster/topology.h"

namespace weir {

/// How the run's cluster differs from this one, beyond the numbers of machines and GPUs; none if it does not.
/// Rates of NICs may differ by half, since the fit is to correct them. They are compared with the value here
/// or, if it is the same in both directions, with the value before the calibrations that moved it.
std::optional<std::string> other_cluster(const Topology& topology, const Topology& run);

/// A warning if a fitted value is a rate far from the one stated before, so that it may be of other machines.
std::optional<std::string> doubt(const CalibratedValue& value);

}  // namespace weir
