// The step of a proof that shows that no two ops touch the same bytes at once, within an iteration and across
// the border to the next.
#pragma once

#include "core/plan/order.h"
#include "core/plan/proof_errors.h"

namespace weir {

struct Races {
  ProofErrors findings;
  std::size_t ordered = 0;  // pairs of accesses that were shown to be ordered
};

/// An op touches its bytes from its beginning to its completion; the ends of a message begin when both have
/// been submitted, and complete each on its own. One access comes before another if its op has completed
/// before the other's begins.
///
/// For each byte of each buffer: its accesses, in the order's sequence, fall into runs that commute (reads,
/// sums, or one write). If every access of a run comes before every one of the following run, and the last
/// run before the first of the next iteration, then all accesses that conflict are ordered, since order is
/// transitive, an op runs before itself in the next iteration, and a node starts an iteration only when the
/// second-last is done.
Races races(const Plan& plan, const Order& order);

}  // namespace weir
