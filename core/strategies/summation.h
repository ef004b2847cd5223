// The plan of every strategy that sums each part on one machine: workers push their gradient of a part to its
// owner, the owner adds them up, and the workers pull the sum (BytePS, OSDI'20, section 4.1). How much each
// machine owns makes it a parameter server, an all-reduce or the optimum in between.
#pragma once

#include "core/analysis/shares.h"
#include "core/strategies/strategy.h"

namespace weir {

/// Rows in the table of strategies.
Strategy unified_strategy();
Strategy ps_strategy();
Strategy colocated_ps_strategy();
Strategy mxnet_ps_strategy();

/// Cost with n GPU machines and load w_i of M bytes: a GPU machine sends and receives M + (n-2) w_i over its
/// NIC, a CPU machine n w_j. Each sums (n-1) w, with three bytes of memory traffic a byte; a parameter server
/// may also update w. Each byte travels in two messages. Host memory: M on a GPU machine, w_j on a CPU
/// machine, and everywhere a ring of landing slots per sender; up to one page more a part.
Result<Plan> summation_plan(std::string name, const Cluster& cluster, const Workload& workload,
                            const Options& options, Summing summing);

/// MXNet's parameter server: whole tensors, placed by assign_as_mxnet (hashed_placement.h).
Result<Plan> mxnet_plan(const Cluster& cluster, const Workload& workload, const Options& options);

}  // namespace weir
