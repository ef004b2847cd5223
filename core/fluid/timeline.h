// Draws a run op by op, in the JSON that chrome://tracing and Perfetto read: machines are processes,
// resources tracks.
#pragma once

#include <string>

#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
#include "core/run/record.h"
#include "core/workload/workload.h"

namespace weir {

/// The measured iterations; their first op starts at 0. A message is drawn where it is sent; what overlaps on
/// a resource goes on several lanes. Ops that take no time are left out.
std::string timeline(const Plan& plan, const Cluster& cluster, const Workload& workload, const Record& record,
                     int warm_up);

}  // namespace weir
