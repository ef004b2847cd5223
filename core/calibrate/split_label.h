// The label of the bound that comes from the optimal split alone: on the largest clusters its plan is too
// large to make.
#pragma once

#include "core/analysis/shares.h"
#include "core/calibrate/label.h"
#include "core/strategies/blocks/local_stage.h"

namespace weir {

/// The label that label_of() gives to the plan of the strategy, which is of StrategyKind::kSplit, under the
/// experiment's options, with that split and those stages on the cluster. To save work it plans a part of the
/// machines in which the same machines sum and gradients take the same ways, and looks at the values that
/// this plan uses. It makes the whole plan, to know its sizes, only if all of those were measured on as many
/// machines.
Label label_of_split(const Strategy& strategy, const Shares& shares, const LocalStageOf& stages,
                     const Cluster& cluster, const Workload& workload, const Experiment& experiment);

}  // namespace weir
