// Bounds in place of simulated times, which are quick even on the largest clusters.
#pragma once

#include <string>

#include "core/analysis/bound.h"
#include "core/experiment/experiment.h"
#include "studies/run/trial.h"

namespace weir {

/// The bound of the optimal split on the experiment's machines, which needs no plan.
Result<Bound> bound_of_split(const Experiment& experiment);

/// An outcome whose iteration time is the strategy's bound.
Outcome bound_alone(const std::string& name, const Experiment& experiment);

}  // namespace weir
