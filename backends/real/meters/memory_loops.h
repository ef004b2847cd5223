// Plain loops that move memory as sums do and compute next to nothing: what memory allows, measured beside
// what a sum reaches.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/units.h"

namespace weir::real {

/// Reads `into` and each of one to eight sources once and writes `into` once, as add() of kernels.h does: of
/// each word the bitwise or is left. The compiler makes vectors of it for the instructions of this machine.
/// `size` is that of `into` and of each source, in whole words of 8 bytes, to which all are aligned; none
/// overlaps another.
void pass_memory(std::byte* into, std::span<const std::byte* const> sources, Bytes size);

}  // namespace weir::real
