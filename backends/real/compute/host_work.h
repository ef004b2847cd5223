// What ops do to host memory: sums, copies, and collectives over a machine's replicas.
#pragma once

#include "backends/real/memory/buffers.h"
#include "core/base/result.h"
#include "core/plan/plan.h"

namespace weir::real {

/// Whether GPUs are part of the op, where there are any: what they compute, and what reads or writes their
/// memory. Messages never are.
bool is_on_gpus(const Op& op, const Plan& plan);

/// Fails if the op is on GPUs, and they cannot do it: kernels see the memory of their own GPU only.
Result<void> check_on_gpus(const Op& op, const Plan& plan, const Buffers& buffers);

/// Does what the op says, in the calling thread. An update reads and writes as much memory as the optimizer
/// would, and leaves the bytes as they are.
void work_on(const Op& op, const Plan& plan, const Buffers& buffers);

}  // namespace weir::real
