// The values of a topology and of a model that the ops of a plan really use, and the sizes of the messages,
// copies and sums that use them: the basis of a result.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "core/base/units.h"
#include "core/experiment/experiment.h"
#include "core/hardware/work.h"
#include "core/plan/plan.h"

namespace weir {

/// The smallest and the largest size.
struct Sizes {
  Bytes least;
  Bytes most;
  void take(const Sizes& other) { *this = {std::min(least, other.least), std::max(most, other.most)}; }
  friend bool operator==(const Sizes&, const Sizes&) = default;
};

struct Uses {
  /// By path, as in CalibratedValue. Values that the topology does not state slow nothing down and are not
  /// used: an unlimited rate, a latency of zero. The exceptions are the network's latency and the overhead of
  /// messages, which every message uses, whatever they are.
  std::map<std::string, Sizes> values;
  int machines = 0;  // those with at least one op
  int racks = 0;     // of these; 0 without racks
};

/// For the contender's plan on the cluster of the experiment's topology; `works` is the plan's table.
Uses uses_of(const Plan& plan, const Cluster& cluster, const WorkTable& works, const Experiment& experiment,
             const Contender& contender);

}  // namespace weir
