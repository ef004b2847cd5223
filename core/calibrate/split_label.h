// The label of a bound that is had without a plan, that of the optimal split: on the largest clusters a plan
// is not to be made.
#pragma once

#include "core/analysis/shares.h"
#include "core/calibrate/label.h"
#include "core/strategies/blocks/local_stage.h"

namespace weir {

/// As trustworthy as label_of() says of the plan of the strategy, which is of StrategyKind::kSplit, under the
/// experiment's options, with that split and those stages on the cluster. A plan on a part of its machines,
/// in which the same machines sum and gradients take the same ways, tells what is used; only if all of that
/// was measured, on as many machines, is the whole plan made, for its sizes.
Label label_of_split(const Strategy& strategy, const Shares& shares, const LocalStageOf& stages,
                     const Cluster& cluster, const Workload& workload, const Experiment& experiment);

}  // namespace weir
