// What there is in a sweep's folder, for people and for other programs.
#pragma once

#include <string>

#include "apps/weir/commands.h"
#include "core/base/result.h"

namespace weir {

/// Prints how many runs have ended and how, who is at work, and how long the rest may take.
Result<ExitStatus> show_status(const std::string& folder);

/// Writes all runs that have ended into a file of the kind that its name says: .csv, .json or .db.
Result<ExitStatus> export_runs(const std::string& folder, const std::string& file);

}  // namespace weir
