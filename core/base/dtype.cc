#include "core/base/dtype.h"

#include <array>

namespace weir {
namespace {

struct Row {
  Dtype dtype;
  std::string_view name;
  std::int64_t size;
};

constexpr std::array<Row, 6> kDtypes = {{
    {Dtype::kF16, "f16", 2},
    {Dtype::kBf16, "bf16", 2},
    {Dtype::kF32, "f32", 4},
    {Dtype::kF64, "f64", 8},
    {Dtype::kI32, "i32", 4},
    {Dtype::kI64, "i64", 8},
}};

const Row& row(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)]; }

}  // namespace

Bytes size(Dtype dtype) { return Bytes(row(dtype).size); }

std::string_view name(Dtype dtype) { return row(dtype).name; }

std::optional<Dtype> dtype_named(std::string_view name) {
  for (const Row& row : kDtypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace weir
