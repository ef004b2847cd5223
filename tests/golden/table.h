// The golden table: what every strategy takes on every shipped topology, simulated, as text.
#pragma once

#include <string>

namespace weir::golden {

/// A line for each topology and strategy, with the length of the first iteration and of the mean of the next
/// two, in nanoseconds; or why there is none. A small model with default options.
std::string table();

/// Where the table that table() must equal is kept.
std::string file();

}  // namespace weir::golden
