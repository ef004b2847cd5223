// Floating-point sums that are added up in the plan's order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/backends/real/world.h"

namespace weir::real {

/// The bytes of all machines' sums, of gradients of numbers large and small whose sum depends on the order,
/// by a strategy with sums in the plan's order. Machines are ready at other times in each run.
std::vector<std::vector<std::byte>> ordered_sums(const std::string& strategy, std::uint64_t run,
                                                 ThreadWorld::Settings settings);

}  // namespace weir::real
