// All-reduce along two complementary binary trees, in chunks (Sanders, Speck, Traff, Two-tree algorithms for
// full bandwidth broadcast, reduction and scan, Parallel Computing 2009). The inner machines of one tree are
// the leaves of the other, so all NICs carry equally much. Each tree sums half of the chunks upwards and
// spreads the sums downwards, and both directions of a NIC are busy with both.
//
// How large a chunk should be. Let trees be d deep. S bytes are cut into c chunks of m = S/(2c) bytes for
// each tree. A NIC takes a turn of a + m/B for each message that it receives: B is its rate, a the latency. A
// chunk needs four turns of an inner machine: two children's sums on the way up, the parent's on the way
// down, and the other tree's, in which the machine is a leaf. The first chunk passes 2d hops. Each takes two
// turns, as there are two children to hear or to tell, except at the root, which has one child: 2(2d-1)
// turns. The others follow four turns apart. This makes
//
//     T(c) = (4d - 2 + 4(c - 1)) (a + m/B) = (4c + 4d - 6) (a + S/(2cB)).
//
// It is least for c = sqrt((4d-6) S / (8aB)), that is for m = sqrt(2aBS / (4d-6)). Filling and draining takes
// 4d-6 turns. Chunks so small that these take less than 0.7 % of the iteration need not be any smaller. In
// simulation the latency of a message passes while others move. Then only the first chunk waits for it, and
// T = 2S/B + (4d-6) m/B + 2da at most.
#pragma once

#include "core/strategies/strategy.h"

namespace weir {

/// Its row in the table of strategies. Cost with n GPU machines and M bytes: T(c) above, with d = log2(n),
/// rounded down; 2M sent and received by each NIC (an inner machine of a tree receives two children's M/2 and
/// its sum's M/2), M summed. Four machines form two paths, in which each NIC sends and receives 3M/2. CPU
/// machines take no part.
///
/// A run of gradients that are ready together is cut by itself. Chunks have at most partition_size bytes and
/// a sixteenth of the send window, so that each neighbour always has a message under way. They have at least
/// a 32nd of finest_part. If that equals partition_size, runs are cut into parts of partition_size.
Strategy double_tree_strategy();

}  // namespace weir
