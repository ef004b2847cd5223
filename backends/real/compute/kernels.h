// Sums of gradients in host memory: any number of sources in one pass over memory, with the widest vectors
// that the machine has.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/base/dtype.h"
#include "core/base/units.h"

namespace weir::real {

/// into = into + sources[0] + sources[1] + ...: added in this order, in one pass over memory. Of f16 and bf16
/// the whole sum is formed in f32 and rounded once, to nearest and ties to even; f32 and f64 are rounded
/// after each addition, so the result is bit for bit that of a plain loop; integers wrap around.
///
/// `size` is that of `into` and of each source: whole elements, perhaps none. No address need be aligned.
/// `into` overlaps no source; sources may overlap each other. Nothing is kept, and nothing allocated; threads
/// may sum at the same time as long as none writes what another reads or writes.
void add(Dtype dtype, std::byte* into, std::span<const std::byte* const> sources, Bytes size);

/// into = sources[0] + sources[1] + ..., as add() does it, but what `into` held is not read. There is at
/// least one source.
void sum(Dtype dtype, std::byte* into, std::span<const std::byte* const> sources, Bytes size);

/// The instructions that the sums use on this machine, by Highway's name: "AVX3", "NEON". For reports.
std::string instructions();

}  // namespace weir::real
