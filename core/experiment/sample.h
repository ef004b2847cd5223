// Samples of one range: places between 0 and 1, and the values at them.
#pragma once

#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/experiment/axis.h"

namespace weir {

/// So many places in [0, 1). A Latin hypercube has one in each of as many equal slices, in random order.
std::vector<double> spread(Sampling method, int count, Random random);

/// The values at these places of the range, whose ends are both whole numbers, numbers, sizes, rates or
/// durations. Those with a unit, and fractions, have four digits, which people can read, but never lie
/// outside. The path is the range's, for complaints.
Result<std::vector<Value>> values_at(const std::vector<double>& places, const SampleRange& range,
                                     const std::string& path);

}  // namespace weir
