// The element types of tensors.
#pragma once

#include <optional>
#include <string_view>

#include "core/base/units.h"

namespace weir {

enum class Dtype { kF16, kBf16, kF32, kF64, kI32, kI64 };

/// The size of one element.
Bytes size(Dtype dtype);

/// The name in files: "f16", "bf16", "f32", "f64", "i32", "i64".
std::string_view name(Dtype dtype);

/// The type with this name, if there is one.
std::optional<Dtype> dtype_named(std::string_view name);

}  // namespace weir
