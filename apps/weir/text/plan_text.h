// What weir plan prints about a plan and its proof.
#pragma once

#include <string>

#include "core/experiment/experiment.h"
#include "core/plan/proof.h"
#include "core/workload/workload.h"

namespace weir {

/// Prints the contender's plan: how much each machine sends, sums and stores, and the bounds.
void show(const Contender& contender, const Experiment& experiment, const Plan& plan, const Cluster& cluster,
          const Workload& workload);

/// The proof in one line.
std::string text(const Proof& proof);

}  // namespace weir
