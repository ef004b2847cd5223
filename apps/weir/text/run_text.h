// What weir run prints before and after its table: the planned runs, and their result.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/weir/text/exit_status.h"
#include "studies/run/configuration.h"
#include "studies/run/published_comparison.h"
#include "studies/run/results.h"

namespace weir {

void introduce_run(const Configuration& configuration, std::size_t runs, const std::string& folder);

/// A line that says how far the rates before and after real runs lie apart. Empty if none were measured
/// twice.
std::string measured_rates(const Results& results);

/// A line that says why runs may have ended below their bounds; empty if the table shows none above 100 %.
std::string below_bound(const Results& results);

/// Prints what all runs have in common, and errors on the error stream. `signal` is the signal that ended the
/// runs, if any. Returns the exit status.
ExitStatus conclude_run(const Results& results, std::optional<int> signal, const std::string& folder);

/// Prints a table that compares results with published values. The status says whether all agree.
ExitStatus show_published(const std::vector<Comparison>& all);

}  // namespace weir
