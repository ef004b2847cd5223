// What weir bound prints: times that no schedule can beat, and why.
#pragma once

#include "studies/bound/bounds.h"

namespace weir {

/// Prints the bounds of any plan and of each strategy, and the critical path of the strategy with the least
/// bound. Requires that at least one strategy is possible.
void show(const ExperimentBounds& bounds);

/// One line for each strategy that has no plan.
std::string text(const std::vector<NoBound>& impossible);

}  // namespace weir
