// The first step of a proof: every op says something that a world can do, and every message has two ends that
// fit. The other steps rely on it.
#pragma once

#include "core/plan/plan.h"
#include "core/plan/proof_errors.h"

namespace weir {

/// What is wrong with the plan's buffers, with ops taken one by one, and with messages.
ProofErrors structure_findings(const Plan& plan);

}  // namespace weir
