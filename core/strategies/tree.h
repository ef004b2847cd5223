// All-reduce along two complementary binary trees (Sanders, Speck, Traff: Two-tree algorithms for full
// bandwidth broadcast, reduction and scan, Parallel Computing 2009). The inner machines of one tree are the
// leaves of the other, so all NICs carry equally much.
#pragma once

#include "core/strategies/strategy.h"

namespace weir {

/// Its row in the table of strategies. Cost with n GPU machines and M bytes, n even: about 2 log2(n) steps;
/// 2M sent and received by each NIC (an inner machine of a tree receives two children's M/2 and its sum's
/// M/2), M summed. CPU machines take no part.
Strategy double_tree_strategy();

}  // namespace weir
