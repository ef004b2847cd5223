// Expected improvement: how much better a point is expected to be than the best so far.
#pragma once

#include "core/tune/gaussian_process.h"

namespace weir::tune {

/// How far the value is expected to fall below `best`; values above it count as 0. Jones, Schonlau and Welch,
/// Efficient Global Optimization (1998), equation 15.
double expected_improvement(const Belief& belief, double best);

}  // namespace weir::tune
