// Runs one node in the real world until its plan is done.
#pragma once

#include <functional>

#include "backends/real/port/port.h"
#include "core/run/node.h"

namespace weir::real {

struct DriveSettings {
  Duration patience{30'000'000'000};   // how long no op may end and no byte move
  std::function<Result<void>()> tick;  // called some ten times a second; what it fails with ends the run
};

/// In the calling thread, the owner of node and port. Fails with the node's first error, naming what it
/// waited for if nothing has happened for too long.
Result<void> drive(Node& node, RealPort& port, const Plan& plan, const Cluster& cluster,
                   const DriveSettings& settings);

}  // namespace weir::real
