// Summarizes how far predictions are from measurements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace weir {

/// Statistics of |predicted / measured - 1|, in per cent.
struct Misses {
  std::size_t count = 0;
  double median = 0;
  double p95 = 0;  // 95 of 100 are at most this
  double worst = 0;
};

/// A larger error means that the run went wrong, or that simulation lacks something that slowed it.
constexpr double kWrongPercent = 10;

struct Predicted {
  double predicted_s = 0;
  double measured_s = 0;  // above 0
  double percent() const { return 100 * (predicted_s / measured_s - 1); }
  bool wrong() const { return std::abs(percent()) > kWrongPercent; }
};

inline Misses misses_of(const std::vector<Predicted>& all) {
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
