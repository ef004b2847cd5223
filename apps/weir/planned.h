// The plan of a contender, which several commands make alike.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/experiment/experiment.h"

namespace weir {

/// Refuses what memory would not hold. Complaints begin with the name.
Result<Plan> planned(const std::string& name, const Contender& contender, const Cluster& cluster,
                     const Workload& workload);

}  // namespace weir
