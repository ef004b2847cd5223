// Loops that move memory as sums do but compute almost nothing: the limit that memory sets, to compare sums
// with.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/units.h"

namespace weir::real {

/// Reads `into` and each of one to eight sources once and writes `into` once, as add() of kernels.h does, but
/// computes only the bitwise or. The compiler vectorizes it for this machine. `size` is the size of `into`
/// and of each source, in whole words of 8 bytes. All are aligned to words, and none overlaps another.
void pass_memory(std::byte* into, std::span<const std::byte* const> sources, Bytes size);

}  // namespace weir::real
