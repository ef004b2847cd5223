#include "core/tune/expected_improvement.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weir::tune {

double expected_improvement(const Belief& belief, double best) {
  const double gap = best - belief.mean;
  if (belief.deviation <= 0) return std::max(0.0, gap);
  const double scaled = gap / belief.deviation;
  const double density = std::exp(-0.5 * scaled * scaled) / std::sqrt(2 * std::numbers::pi);
  const double below = 0.5 * std::erfc(-scaled / std::numbers::sqrt2);
  return gap * below + belief.deviation * density;
}

}  // namespace weir::tune
