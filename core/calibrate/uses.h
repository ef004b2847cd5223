// Which values of a topology and of a model the ops of a plan really use, and with messages, copies and sums
// of which sizes: what a result stands on.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "core/base/units.h"
#include "core/experiment/experiment.h"
#include "core/hardware/work.h"
#include "core/plan/plan.h"

namespace weir {

/// The smallest and the largest; of some.
struct Sizes {
  Bytes least;
  Bytes most;
  void take(const Sizes& other) { *this = {std::min(least, other.least), std::max(most, other.most)}; }
  friend bool operator==(const Sizes&, const Sizes&) = default;
};

struct Uses {
  /// By path, as in CalibratedValue. What the topology does not state holds nothing up and is not used: an
  /// unlimited rate, a latency of zero; but every message uses the network's latency and the overhead of
  /// messages, whatever they are.
  std::map<std::string, Sizes> values;
  int machines = 0;  // those that have anything to do
  int racks = 0;     // of these; 0 without racks
};

/// Of a plan of that contender on the cluster of the experiment's topology, whose table is `works`.
Uses uses_of(const Plan& plan, const Cluster& cluster, const WorkTable& works, const Experiment& experiment,
             const Contender& contender);

}  // namespace weir
