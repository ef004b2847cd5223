// All-reduce by recursive halving and doubling (Rabenseifner, Optimization of collective reduction
// operations, ICCS 2004; Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in
// MPICH, 2005). It moves the fewest bytes that an all-reduce can, in a number of steps that grows with the
// logarithm of the machines.
//
// Machines exchange halves of a bucket with their neighbour, then quarters with a machine two places away,
// and so on while their number is even. So the most bytes go the shortest way. Rabenseifner requires that a
// power of two is left; here the odd number m that is left may be any. As long as a machine holds h > 1 of
// its m pieces, it sends all but the first ceil(h/2), as summed so far, to the machine ceil(h/2) places on.
// (Traff, Optimal, non-pipelined reduce-scatter and allreduce algorithms, 2024.) The known ways to first
// reach a power of two make some machines wait, and send up to twice the bytes. The second phase is the first
// one backwards.
#pragma once

#include "core/strategies/strategy.h"

namespace weir {

/// Its row in the table of strategies. Cost with n GPU machines and M bytes, for any n: 2 ceil(log2 n) steps;
/// 2(n-1)M/n sent and received by each NIC, of which the first and the last step have M/2 if n is even;
/// (n-1)M/n summed, in host memory. With an odd m, a step sends two messages if its pieces are not neighbours
/// in memory. A machine's steps follow one another. CPU machines take no part.
Strategy halving_doubling_strategy();

}  // namespace weir
