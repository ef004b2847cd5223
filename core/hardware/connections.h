// How many connections each flow gets, if flows meet on links, so that each gets its part of them.
#pragma once

#include <cstdint>
#include <vector>

namespace weir {

/// Whole numbers from 1 to `most`, in proportion to the bytes, as small as possible. They are chosen so that
/// the largest relative error is least.
std::vector<int> in_proportion(const std::vector<std::int64_t>& bytes, int most);

}  // namespace weir
