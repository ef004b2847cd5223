// Which thread moves which channel.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/units.h"

namespace weir::real {

/// Assigns each load to one of `places`, so that the places get nearly equal sums. The largest load comes
/// first. Each load goes to the place with the smallest sum so far; on a tie, to the one with the fewest
/// loads. There is at least one place.
std::vector<std::size_t> even_shares(const std::vector<Bytes>& loads, std::size_t places);

}  // namespace weir::real
