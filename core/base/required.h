// Members of structs that have no default.
#pragma once

#include <concepts>

namespace weir {

/// A value that every initializer must give.
template <class T>
struct Required {
  constexpr Required(std::convertible_to<T> auto given) : value(given) {}  // NOLINT: converts from its value
  constexpr operator T() const { return value; }                           // NOLINT: converts to its value
  T value;
};

}  // namespace weir
