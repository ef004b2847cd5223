// How far predictions are from what was measured, in a few numbers.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace weir {

/// Of |predicted / measured - 1|, in per cent.
struct Misses {
  std::size_t count = 0;
  double median = 0;
  double p95 = 0;  // the least that 95 of 100 do not exceed
  double worst = 0;
};

/// What is foretold worse than this has gone wrong, or something holds it up that simulation does not know.
constexpr double kWrongPercent = 10;

struct Predicted {
  double predicted_s = 0;
  double measured_s = 0;  // above 0
  double percent() const { return 100 * (predicted_s / measured_s - 1); }
  bool wrong() const { return std::abs(percent()) > kWrongPercent; }
};

Misses misses_of(const std::vector<Predicted>& all);

}  // namespace weir
