// What ops do to host memory: sums, copies, and collectives over a machine's replicas.
#pragma once

#include "backends/real/memory/buffers.h"
#include "core/base/result.h"
#include "core/plan/plan.h"

namespace weir::real {

/// Whether GPUs execute the op on a machine that has them: computation, collectives, and what reads or writes
/// GPU memory. Never messages.
bool is_on_gpus(const Op& op, const Plan& plan);

/// Fails if the op belongs on GPUs but they cannot do it. Kernels access only the memory of their own GPU.
Result<void> check_on_gpus(const Op& op, const Plan& plan, const Buffers& buffers);

/// Does the op in the calling thread. An update reads and writes as much memory as an optimizer would, but
/// leaves the sum unchanged.
void work_on(const Op& op, const Plan& plan, const Buffers& buffers);

}  // namespace weir::real
