// How documents name element types.
#pragma once

#include <array>

#include "core/base/dtype.h"
#include "core/document/fields.h"

namespace weir {

inline auto enum_names(Dtype /*dtype*/) {
  const auto named = [](Dtype dtype) { return Named<Dtype>{dtype, name(dtype)}; };
  return std::array<Named<Dtype>, 6>{{named(Dtype::kF16), named(Dtype::kBf16), named(Dtype::kF32),
                                      named(Dtype::kF64), named(Dtype::kI32), named(Dtype::kI64)}};
}

}  // namespace weir
