// The median of measured values.
#pragma once

#include <algorithm>
#include <vector>

namespace weir {

/// The median; there must be at least one value.
template <class T>
T median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace weir
