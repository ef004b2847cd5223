// One command in every machine of a lab at once, with the lines that each writes under its name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/weir/commands.h"
#include "backends/real/lab/lab.h"
#include "core/cluster/cluster.h"
#include "studies/process/signals.h"

namespace weir {

/// Runs the command in every machine, with WEIR_MACHINE, WEIR_RANK, WEIR_MACHINES and WEIR_ADDRESSES in its
/// environment, until all have ended: kExitFailed if one failed. A signal asks all to end and, five seconds
/// later, leaves the others to the end of the lab; so does the deadline, if there is one.
Result<ExitStatus> run_in_lab(real::Lab& lab, const Cluster& cluster, const std::vector<std::string>& command,
                              std::optional<Duration> deadline, const Signals& signals);

}  // namespace weir
