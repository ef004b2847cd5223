// Numbers in documents of other programs, which we do not describe with fields (fields.h).
#pragma once

#include <optional>
#include <string_view>

#include "core/document/document.h"

namespace weir {

/// The number with this name in the object; none if it is missing or not a number.
inline std::optional<double> number_in(const Value& object, std::string_view name) {
  const Value* value = object.find(name);
  const bool number =
      value != nullptr && (value->is(Value::Kind::kInteger) || value->is(Value::Kind::kDouble));
  return number ? std::optional(value->as_double()) : std::nullopt;
}

}  // namespace weir
