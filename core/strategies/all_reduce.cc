#include "core/strategies/all_reduce.h"

#include <algorithm>
#include <array>

namespace weir {

// Each of the others sends every part straight to the machine that sums it.
bool is_all_reduce(const Strategy& strategy) {
  constexpr std::array<std::string_view, 4> kStraight = {"unified", "ps", "colocated-ps", "mxnet-ps"};
  return std::find(kStraight.begin(), kStraight.end(), strategy.name) == kStraight.end();
}

}  // namespace weir
