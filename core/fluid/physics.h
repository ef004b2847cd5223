// Checks in every simulated run that its world obeyed physics: no link carried more than its rate times the
// time it was in use, no flow was faster than its slowest link, and every byte of the plan moved.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/fluid/work.h"

namespace weir {

/// Follows the flows of one run. Times are the engine's seconds, its rates as precise as it says. The cluster
/// and the works outlive it.
class Physics {
 public:
  Physics(const Plan& plan, const Cluster& cluster, const WorkTable& works, double precision = 0.0);

  void flow_started(OpId op, double now);
  void flow_ended(OpId op, double now);
  /// The link has this fraction of its rate from now on.
  void link_scaled(LinkId link, double factor, double now);

  /// All holds, after the plan ran `iterations` times; or the first violation.
  Result<void> verdict(int iterations) const;

 private:
  struct Use {
    int flows = 0;        // under way
    double factor = 1.0;  // of its rate
    double since = 0.0;   // start of the present spell of use with this factor
    double busy = 0.0;    // seconds in earlier spells, times their factors
    double bytes = 0.0;   // carried by flows that have ended
    double left = 0.0;    // of these, what may not have been carried
    double ends = 0.0;    // how many have
  };
  const Plan* plan_;
  const Cluster* cluster_;
  const WorkTable* works_;
  double tolerance_;
  std::vector<Use> uses_;        // by link
  std::vector<double> started_;  // by op
  double now_ = 0.0;             // the end of the last flow
  std::string violation_;        // the first flow that was too fast
};

}  // namespace weir
