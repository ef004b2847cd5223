// Folds machines that all do the same into one: only one of them is simulated, and its part of the record
// stands for all of them.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/hardware/work.h"
#include "core/plan/plan.h"
#include "core/run/record.h"

namespace weir {

/// A folded plan, in which every machine does the same. The condition: renumber each working machine as the
/// next one, in order of id and cyclically. The plan must then map onto itself. Ops map to ops of the same
/// kind, size, priority and work, over the corresponding links; edges map to edges and messages to messages.
/// Then everything happens on all machines at the same instants, with two exceptions: rounding, and ties. A
/// tie is two ops of equal urgency that become ready for one resource at one instant; the order of ids
/// decides it.
///
/// In `plan` only the first of these machines has ops, and it sends its messages to itself. A value.
struct Folding {
  std::unique_ptr<const Plan> plan;
  std::unique_ptr<const WorkTable> works;
  std::vector<OpId> by;  // by op of the whole plan: the op that represents it

  /// The record of the whole plan.
  Record unfold(const Record& folded) const;
};

/// None if the plan's machines do not all do the same. `works` is the work of the plan's ops; the cluster
/// outlives the folding. Most plans that cannot be folded are rejected after a quick look at their machines.
std::optional<Folding> fold(const Plan& plan, const Cluster& cluster, const WorkTable& works);

}  // namespace weir
