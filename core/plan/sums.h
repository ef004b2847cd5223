// The step of a proof that shows that every gradient ends as the sum of all: it runs the plan on symbols.
// Each GPU's backward contributes its own symbol; moves carry sets of them, sums unite sets, and each forward
// must find, in every byte on every GPU, that very byte of the model with the contributions of all GPUs, each
// once.
#pragma once

#include "core/base/result.h"
#include "core/plan/order.h"

namespace weir {

/// The bytes that forward ops find right, over all GPUs; or the first op that reads or sums what it must not.
/// One run in the order's sequence stands for every schedule, if the plan has no race.
Result<Bytes> summed(const Plan& plan, const Order& order);

}  // namespace weir
