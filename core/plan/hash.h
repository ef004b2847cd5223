// A plan's hash. Machines compare it to see that they made the same plan; a record names its plan by it.
#pragma once

#include <string>

#include "core/plan/plan.h"

namespace weir {

/// Equal plans have equal hashes: 16 hexadecimal digits. Guards against mistakes, not against malice.
std::string plan_hash(const Plan& plan);

}  // namespace weir
