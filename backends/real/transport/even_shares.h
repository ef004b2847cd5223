// Which thread moves which channel.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/units.h"

namespace weir::real {

/// For each of these loads its place among `places`, so that they have nearly equal sums: the largest first,
/// each to the place that has least so far, and of those with as much to the one with fewest. At least one
/// place.
std::vector<std::size_t> even_shares(const std::vector<Bytes>& loads, std::size_t places);

}  // namespace weir::real
