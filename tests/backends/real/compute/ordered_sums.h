// Floating-point sums that are added in the plan's order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/backends/real/world.h"

namespace weir::real {

/// Sums gradients by a strategy that adds in the plan's order, and returns the bytes of every machine's sums.
/// The gradients mix large and small numbers, so that their sum depends on the order. In each run, machines
/// become ready at different times.
std::vector<std::vector<std::byte>> ordered_sums(const std::string& strategy, std::uint64_t run,
                                                 ThreadWorld::Settings settings);

}  // namespace weir::real
