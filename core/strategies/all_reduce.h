// Which strategies are all-reduces among machines: sums pass from machine to machine, at the fraction of a
// NIC's rate that Options::allreduce_efficiency is.
#pragma once

#include "core/strategies/strategy.h"

namespace weir {

bool is_all_reduce(const Strategy& strategy);

}  // namespace weir
