// The median of what was measured.
#pragma once

#include <algorithm>
#include <vector>

namespace weir {

/// The middle one of what was measured, of which there is some.
template <class T>
T median(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace weir
