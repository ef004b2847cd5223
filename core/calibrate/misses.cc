#include "core/calibrate/misses.h"

#include <algorithm>
#include <cmath>

namespace weir {

Misses misses_of(const std::vector<Predicted>& all) {
  std::vector<double> off;
  for (const Predicted& one : all) off.push_back(std::abs(one.percent()));
  std::sort(off.begin(), off.end());
  if (off.empty()) return {};
  const auto rank = [&](double part) {  // the nearest rank
    const auto number = static_cast<std::size_t>(std::ceil(part * static_cast<double>(off.size())));
    return off[std::max<std::size_t>(number, 1) - 1];
  };
  return {off.size(), rank(0.5), rank(0.95), off.back()};
}

}  // namespace weir
