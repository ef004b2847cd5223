// A world without time: of all ops that could complete, a random one does next. The ends of a message
// complete each on its own: what lies where it lands is undefined until its receive has completed, and its
// source must stay as it is until its send has.
#pragma once

#include <string>

#include "core/base/random.h"
#include "core/plan/plan.h"

namespace weir::fuzz {

/// Runs the plan on real numbers in a random order that its edges and messages allow. What went wrong, in
/// words: an element that is not the sum of all, a source that changed while it was being sent, or that
/// nothing can go on; empty if all is well. The plan's structure is sound.
std::string run_in_random_order(const Plan& plan, int iterations, Random random);

}  // namespace weir::fuzz
