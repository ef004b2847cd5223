// Machines that all do the same, folded into one for simulation: what one of them does is simulated, and
// stands in the record for what each does.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/hardware/work.h"
#include "core/plan/plan.h"
#include "core/run/record.h"

namespace weir {

/// A plan all of whose machines do the same, but for which one they are. For this to be so, turning the
/// machines that work by one, in order of id, must turn the plan into itself: ops into ops of the same kind,
/// size, priority and work over the same links of the machines turned, edges into edges and messages into
/// messages. Whatever happens then happens on each machine at the same instants, unless a tie decides: ops of
/// one urgency that become ready for one resource at one instant, which is told by the order of ids; or
/// rounding.
///
/// In `plan` only the first of the machines has ops, and sends itself what it sends. A value.
struct Folding {
  std::unique_ptr<const Plan> plan;
  std::unique_ptr<const WorkTable> works;
  std::vector<OpId> by;  // by op of the whole plan: the op that stands for it

  /// That of the whole plan.
  Record unfold(const Record& folded) const;
};

/// None, if the plan's machines do not all do the same. The plan's ops have `works`; the cluster outlives the
/// folding. A plan that cannot be folded is mostly told at the cost of a look at its machines.
std::optional<Folding> fold(const Plan& plan, const Cluster& cluster, const WorkTable& works);

}  // namespace weir
