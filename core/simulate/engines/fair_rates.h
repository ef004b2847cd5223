// What each of several flows gets of the links that they share, by the definition of max-min fairness
// (engine.h). The toy engine of the tests computes with it too, against which SimGrid is held.
#pragma once

#include <vector>

#include "core/hardware/paths.h"

namespace weir {

/// In bytes of flow per second, by flow; `rates` are the links' in bytes per second, by id. Of each flow the
/// path, which must not be empty.
std::vector<double> fair_rates(const std::vector<double>& rates, const std::vector<PathView>& flows);

}  // namespace weir
