// Plans with no sense but a valid structure and no cycle, and their order worked out the slow and simple way:
// what the quick proof is compared with.
#pragma once

#include <vector>

#include "core/base/random.h"
#include "core/plan/order.h"

namespace weir::examples {

/// Two machines with two small host buffers each; copies, sums and messages between random slices. `density`
/// is the chance in percent of an edge between two ops, and half of it that of a carried one; a third of the
/// ops are messages.
Plan random_plan(Random random, std::size_t ops, int density);

/// closure[a][b]: the event at a comes before the one at b. Events of the next iteration lie behind all of
/// this one.
std::vector<std::vector<bool>> closure(const Order& order);

}  // namespace weir::examples
