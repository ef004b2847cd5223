// The golden table as text: the simulated times of every strategy on every shipped topology.
#pragma once

#include <string>

namespace weir::golden {

/// One line for each topology and strategy, for a small model with default options. It gives in nanoseconds
/// the length of the first iteration and the mean of the next two, or says why there is none.
std::string table();

/// Path of the file that table() must equal.
std::string file();

}  // namespace weir::golden
