// A world without time: a random one of all ops that could complete does so next. A send and its receive
// complete independently. The target is undefined until the receive has completed, and the source must not
// change until the send has completed.
#pragma once

#include <string>

#include "core/base/random.h"
#include "core/plan/plan.h"

namespace weir::fuzz {

/// Runs the plan on real numbers in a random order that its edges and messages allow. Returns a description
/// of what went wrong: an element that is not the sum of all, a source that changed while it was being sent,
/// or no op that can complete. It is empty if all is well. The plan's structure must be sound.
std::string run_in_random_order(const Plan& plan, int iterations, Random random);

}  // namespace weir::fuzz
