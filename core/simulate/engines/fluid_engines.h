// Chooses Weir's fluid engine for a given precision.
#pragma once

#include <memory>
#include <vector>

#include "core/simulate/engines/engine.h"

namespace weir {

/// The fluid engine of this precision, which is from 0 to below 1; 0 means exact. `rates` are the links' in
/// bytes per second, by id, positive and finite.
std::unique_ptr<Engine> fluid_engine(const std::vector<double>& rates, double precision);

}  // namespace weir
