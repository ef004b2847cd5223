// The step of a proof that shows that no two ops conflict over the same bytes at once, within an iteration
// and across the border to the next.
#pragma once

#include "core/plan/order.h"
#include "core/plan/proof_errors.h"

namespace weir {

struct Races {
  ProofErrors findings;
  std::size_t ordered = 0;  // pairs of accesses shown to be ordered
};

/// An op touches its bytes from its beginning to its completion. The ends of a message begin when both have
/// been submitted, and complete independently. One access comes before another if its op has completed before
/// the other's begins.
///
/// For each byte of each buffer, its accesses, in the order's sequence, fall into runs that commute (reads,
/// sums, or one write). It suffices that every access of a run comes before every access of the following
/// run. The run after the last one is the first run of the next iteration. Then all conflicting accesses are
/// ordered, for three reasons: order is transitive; an op runs before itself in the next iteration; and a
/// node starts an iteration only when the second-last one is done.
Races races(const Plan& plan, const Order& order);

}  // namespace weir
