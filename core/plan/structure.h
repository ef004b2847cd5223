// The first step of a proof: every op is one that a world can carry out, and every message has two ends that
// fit. The other steps rely on it.
#pragma once

#include "core/plan/plan.h"
#include "core/plan/proof_errors.h"

namespace weir {

/// Errors in the plan's buffers, in its ops one by one, and in its messages.
ProofErrors structure_findings(const Plan& plan);

}  // namespace weir
