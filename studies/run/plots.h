// Draws the figures of an experiment's results, with the Python program in plots/.
#pragma once

#include <string>

#include "core/base/result.h"

namespace weir {

/// Runs plots/plot.py on the folder of results. Returns an empty text if figures were drawn, or one line that
/// says that the program or Python's matplotlib is missing.
Result<std::string> draw_plots(const std::string& folder);

}  // namespace weir
