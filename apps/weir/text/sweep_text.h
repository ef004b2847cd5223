// What weir sweep prints: what a share has to do, what came of it, and how far a sweep has come.
#pragma once

#include "apps/weir/text/exit_status.h"
#include "studies/sweep/sweep_share.h"
#include "studies/sweep/sweep_status.h"

namespace weir {

void introduce_share(const SweepSettings& settings, const Design& design, std::size_t left);

/// Prints what went wrong, if anything did; the status to end with.
ExitStatus conclude_share(const Share& share, const ShareResult& result);

/// The same of a whole sweep's status.
ExitStatus show_status(const SweepStatus& status);

}  // namespace weir
