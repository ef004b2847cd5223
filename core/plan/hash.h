// A plan's hash: by it machines that made the same plan, and records of it, know each other.
#pragma once

#include <string>

#include "core/plan/plan.h"

namespace weir {

/// Equal plans have equal hashes: 16 hexadecimal digits. Guards against mistakes, not against malice.
std::string plan_hash(const Plan& plan);

}  // namespace weir
