// Which of Weir's own fluid engines simulates to what precision.
#pragma once

#include <memory>
#include <vector>

#include "core/simulate/engines/engine.h"

namespace weir {

/// The fluid engine of that precision, from 0 to below 1: exact if it is 0. `rates` are the links' in bytes
/// per second, by id, positive and finite.
std::unique_ptr<Engine> fluid_engine(const std::vector<double>& rates, double precision);

}  // namespace weir
