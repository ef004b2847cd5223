// The longest path through a plan's ops: what an iteration takes where nothing waits for a link or a device,
// and where that time goes.
#pragma once

#include <functional>
#include <vector>

#include "core/base/units.h"
#include "core/hardware/work.h"
#include "core/plan/plan.h"

namespace weir {

/// Invariants: each op but the first waits for the one before; the times by kind add up to the length.
struct CriticalPath {
  Duration length;
  std::vector<OpId> ops;  // in order, messages by their sends; joins are left out
  Duration compute;
  Duration collectives;
  Duration copies;
  Duration sends;
  Duration sums;
  Duration updates;
  Duration waits;
  Duration latency;  // of what stands above, which is without it
};

/// Every op as short as it can be, every message when both of its ends are ready. Of paths as long as each
/// other, one.
CriticalPath critical_path(const Plan& plan, const WorkTable& works);

/// What an op takes from when it is ready; a message's time stands at its send.
using OpTimes = std::function<Duration(OpId)>;

/// The length of the longest chain of ops that wait for each other, if they take such times.
Duration critical_length(const Plan& plan, const OpTimes& takes);

}  // namespace weir
