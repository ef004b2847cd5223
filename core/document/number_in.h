// Numbers in documents that other programs wrote, whose members are not ours to describe (fields.h).
#pragma once

#include <optional>
#include <string_view>

#include "core/document/document.h"

namespace weir {

/// The object's member of that name; none if there is none, or if it is no number.
inline std::optional<double> number_in(const Value& object, std::string_view name) {
  const Value* value = object.find(name);
  const bool number =
      value != nullptr && (value->is(Value::Kind::kInteger) || value->is(Value::Kind::kDouble));
  return number ? std::optional(value->as_double()) : std::nullopt;
}

}  // namespace weir
