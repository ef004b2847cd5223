#include "core/plan/hash.h"

#include "core/base/hash.h"
#include "core/plan/print.h"

namespace weir {

std::string plan_hash(const Plan& plan) { return hash_of(text(plan)); }

}  // namespace weir
