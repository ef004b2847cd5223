// Runs one node in the real world until its plan is done.
#pragma once

#include <functional>

#include "backends/real/port/port.h"
#include "core/run/node.h"

namespace weir::real {

struct DriveSettings {
  Duration patience{30'000'000'000};   // how long nothing may happen: no op ends and no byte moves
  std::function<Result<void>()> tick;  // called about ten times a second; its error ends the run
};

/// Runs in the calling thread, which owns node and port. Fails with the node's first error. Fails too if
/// nothing happens for too long, and then names the ops that wait.
Result<void> drive(Node& node, RealPort& port, const Plan& plan, const Cluster& cluster,
                   const DriveSettings& settings);

}  // namespace weir::real
