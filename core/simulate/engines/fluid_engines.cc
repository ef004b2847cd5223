#include "core/simulate/engines/fluid_engines.h"

#include "core/simulate/engines/fluid_engine.h"
#include "core/simulate/engines/rough_engine.h"

namespace weir {

std::unique_ptr<Engine> fluid_engine(const std::vector<double>& rates, double precision) {
  if (precision == 0.0) return std::make_unique<FluidEngine>(rates);
  return std::make_unique<RoughEngine>(rates, precision);
}

}  // namespace weir
