// The step of a proof that shows that every gradient ends as the sum of all: it runs the plan on symbols.
// Each GPU's backward contributes its own symbol. Moves carry sets of symbols, and sums unite sets. Each
// forward must find, in every byte on every GPU, that same byte of the model with the contributions of all
// GPUs, each once.
#pragma once

#include "core/base/result.h"
#include "core/plan/order.h"

namespace weir {

/// The number of bytes that forward ops find correct, over all GPUs; or the first op that reads or sums
/// something wrong. One run in the order's sequence stands for every schedule, if the plan has no race.
Result<Bytes> summed(const Plan& plan, const Order& order);

}  // namespace weir
