#include "core/analysis/stretch.h"

#include <algorithm>

namespace weir {

void Windows::offer(int n, double seconds, double each) { lines_.push_back({n, seconds, each}); }

void Windows::offer(const Windows& other) {
  lines_.insert(lines_.end(), other.lines_.begin(), other.lines_.end());
}

// By the number of iterations, up to kMost.
std::vector<double> Windows::shortest() const {
  std::vector<double> times(kMost + 1);
  for (int n = 1; n <= kMost; ++n) {
    double& time = times[static_cast<std::size_t>(n)];
    for (const Line& line : lines_) {
      if (line.n <= n) time = std::max(time, line.seconds + line.each * (n - line.n));
    }
    for (int part = 1; 2 * part <= n; ++part)
      time =
          std::max(time, times[static_cast<std::size_t>(part)] + times[static_cast<std::size_t>(n - part)]);
  }
  return times;
}

double Windows::total(int iterations) const {
  const std::vector<double> times = shortest();
  if (iterations <= kMost) return times[static_cast<std::size_t>(iterations)];
  double most = 0.0;
  for (int n = 1; n <= kMost; ++n) {
    const int whole = iterations / n;
    most = std::max(
        most, times[static_cast<std::size_t>(n)] * whole + times[static_cast<std::size_t>(iterations % n)]);
  }
  for (const Line& line : lines_) {
    if (line.n <= iterations) most = std::max(most, line.seconds + line.each * (iterations - line.n));
  }
  return most;
}

double Windows::mean(const Stretch& stretch, double first) const {
  if (stretch.iterations == Stretch::kEndless) {
    const std::vector<double> times = shortest();
    double most = 0.0;
    for (int n = 1; n <= kMost; ++n) most = std::max(most, times[static_cast<std::size_t>(n)] / n);
    for (const Line& line : lines_) most = std::max(most, line.each);
    return most;
  }
  if (stretch.warm_up > 0) return total(stretch.iterations) / stretch.iterations;
  return (first + total(stretch.iterations - 1)) / stretch.iterations;
}

}  // namespace weir
