// Draws the figures of an experiment's results, by the Python program in plots/.
#pragma once

#include <string>

#include "core/base/result.h"

namespace weir {

/// Runs plots/plot.py on the folder of results. The text says in one line why nothing was drawn, if that
/// program or Python's matplotlib is not there; empty if figures were drawn.
Result<std::string> draw_plots(const std::string& folder);

}  // namespace weir
