// The rate of each of several flows that share links, computed directly from the definition of max-min
// fairness (engine.h). The toy engine of the tests uses it too, and SimGrid is checked against that.
#pragma once

#include <vector>

#include "core/hardware/paths.h"

namespace weir {

/// The rates in bytes of flow per second, by flow. `rates` are the links' in bytes per second, by id. `flows`
/// are the flows' paths, none of them empty.
std::vector<double> fair_rates(const std::vector<double>& rates, const std::vector<PathView>& flows);

}  // namespace weir
