// What weir sweep prints: the work of a share, its result, and the progress of a sweep.
#pragma once

#include "apps/weir/text/exit_status.h"
#include "studies/sweep/sweep_share.h"
#include "studies/sweep/sweep_status.h"

namespace weir {

void introduce_share(const SweepSettings& settings, const Design& design, std::size_t left);

/// Prints what failed, if anything did. Returns the exit status.
ExitStatus conclude_share(const Share& share, const ShareResult& result);

/// The same for the status of a whole sweep.
ExitStatus show_status(const SweepStatus& status);

}  // namespace weir
