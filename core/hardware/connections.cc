#include "core/hardware/connections.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir {

std::vector<int> in_proportion(const std::vector<std::int64_t>& bytes, int most) {
  const double largest_sum =
      static_cast<double>(bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end()));
  std::vector<int> best;
  double least = std::numeric_limits<double>::max();
  for (int largest = 1; largest <= most; ++largest) {
    std::vector<int> counts;
    double error = 0.0;
    for (const std::int64_t sum : bytes) {
      const double exact = static_cast<double>(sum) / largest_sum * largest;
      counts.push_back(std::max(1, static_cast<int>(std::lround(exact))));
      error = std::max(error, std::abs(std::log(counts.back() / exact)));
    }
    if (error > 0.9 * least - 0.01) continue;  // the gain is not worth more connections
    best = std::move(counts);
    least = error;
  }
  return best;
}

}  // namespace weir
