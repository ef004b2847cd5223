// What weir plan prints of a plan, and of its proof.
#pragma once

#include <string>

#include "core/experiment/experiment.h"
#include "core/plan/proof.h"
#include "core/workload/workload.h"

namespace weir {

/// The contender's plan: who sends, sums and stores how much, and the bounds.
void show(const Contender& contender, const Experiment& experiment, const Plan& plan, const Cluster& cluster,
          const Workload& workload);

/// A line.
std::string text(const Proof& proof);

}  // namespace weir
