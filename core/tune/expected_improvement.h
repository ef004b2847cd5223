// Which point to try next: that of which most improvement is expected.
#pragma once

#include "core/tune/gaussian_process.h"

namespace weir::tune {

/// By how much the value is expected to fall below `best`; values above count as none. Jones, Schonlau and
/// Welch, Efficient Global Optimization (1998), equation 15.
double expected_improvement(const Belief& belief, double best);

}  // namespace weir::tune
