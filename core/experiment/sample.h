// Samples of one range: random places between 0 and 1, and the range's values at them.
#pragma once

#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/experiment/axis.h"

namespace weir {

/// `count` places in [0, 1). A Latin hypercube has one in each of `count` equal slices, in random order.
std::vector<double> spread(Sampling method, int count, Random random);

/// The values at these places of the range. Both ends must be of one kind: whole numbers, numbers, sizes,
/// rates or durations. For readability, values with a unit and fractions have four digits; they never leave
/// the range. `path` is the range's path, for errors.
Result<std::vector<Value>> values_at(const std::vector<double>& places, const SampleRange& range,
                                     const std::string& path);

}  // namespace weir
