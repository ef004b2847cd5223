// All-reduce along two complementary binary trees (Sanders, Speck, Traff: Two-tree algorithms for full
// bandwidth broadcast, reduction and scan, Parallel Computing 2009): the inner machines of one are the leaves
// of the other, so each machine's NIC carries the same.
#pragma once

#include "core/base/result.h"
#include "core/cluster/cluster.h"
#include "core/plan/plan.h"
#include "core/strategies/blocks/options.h"
#include "core/workload/workload.h"

namespace weir {

/// Cost with n GPU machines and M bytes, n even: about 2 log2(n) steps; 2M sent and received by each NIC (an
/// inner machine of a tree receives two children's M/2 and its sum's M/2), M summed. CPU machines take no
/// part.
Result<Plan> double_tree_plan(const Cluster& cluster, const Workload& workload, const Options& options);

}  // namespace weir
