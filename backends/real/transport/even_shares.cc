#include "backends/real/transport/even_shares.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weir::real {

std::vector<std::size_t> even_shares(const std::vector<Bytes>& loads, std::size_t places) {
  std::vector<std::size_t> order(loads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return loads[a] > loads[b]; });
  std::vector<std::pair<Bytes, int>> sums(places);  // each with its number of loads
  std::vector<std::size_t> place_of(loads.size());
  for (const std::size_t load : order) {
    const auto least = std::min_element(sums.begin(), sums.end());
    place_of[load] = static_cast<std::size_t>(least - sums.begin());
    least->first += loads[load];
    ++least->second;
  }
  return place_of;
}

}  // namespace weir::real
