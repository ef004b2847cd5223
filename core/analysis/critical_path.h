// The longest path through a plan's ops: how long an iteration takes if nothing waits for a link or a device,
// and where that time goes.
#pragma once

#include <functional>
#include <vector>

#include "core/analysis/stretch.h"
#include "core/base/units.h"
#include "core/hardware/work.h"
#include "core/plan/plan.h"

namespace weir {

/// Invariants: each op except the first waits for the one before; the times by kind add up to the length.
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
  Duration latency;  // latency of all ops above, whose times exclude it
};

/// The longest path if every op is as short as possible and every message begins when both of its ends are
/// ready. Among equally long paths, any one.
CriticalPath critical_path(const Plan& plan, const WorkTable& works);

/// For the longest chains of ops that wait for each other across iterations, if every op is as short as
/// possible. In the long run this tends to the largest ratio, over all cycles of such ops, of their time to
/// the number of iterations that the cycle spans.
Windows critical_windows(const Plan& plan, const WorkTable& works);

/// How long an op takes once it is ready. A message's time counts at its send.
using OpTimes = std::function<Duration(OpId)>;

/// The length of the longest chain of ops that wait for each other, if the ops take these times.
Duration critical_length(const Plan& plan, const OpTimes& takes);

}  // namespace weir
