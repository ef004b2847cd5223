// What weir run prints around its table: what is to be run, and what came of it.
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

/// Prints what all runs have in common, and on the error stream what is wrong; the status to end with. The
/// signal is the one that ended them, if any did.
ExitStatus conclude_run(const Results& results, std::optional<int> signal, const std::string& folder);

/// A table of results beside what is published; the status says whether all of it is met.
ExitStatus show_published(const std::vector<Comparison>& all);

}  // namespace weir
