// How many connections flows that meet on links are spread over, so that each gets its part of them.
#pragma once

#include <cstdint>
#include <vector>

namespace weir {

/// Whole numbers from 1 to `most`, as small as they can be, in proportion to the bytes: chosen for the least
/// relative error of any.
std::vector<int> in_proportion(const std::vector<std::int64_t>& bytes, int most);

}  // namespace weir
