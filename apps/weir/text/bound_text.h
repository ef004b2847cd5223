// What weir bound prints: what no schedule can beat, and why.
#pragma once

#include "studies/bound/bounds.h"

namespace weir {

/// The bounds of any plan and of each strategy, and the critical path of the one with the least. Some
/// strategy is possible.
void show(const ExperimentBounds& bounds);

/// A line for each strategy that has no plan.
std::string text(const std::vector<NoBound>& impossible);

}  // namespace weir
