// Sums of gradients in host memory: any number of sources in one pass, with the widest vectors that the
// machine has.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/base/dtype.h"
#include "core/base/units.h"

namespace weir::real {

/// into = into + sources[0] + sources[1] + ..., added in this order, in one pass over memory. For f16 and
/// bf16 the whole sum is formed in f32 and rounded once, to nearest, ties to even. f32 and f64 are rounded
/// after each addition, so the result equals that of a plain loop bit for bit. Integers wrap around.
///
/// `size` is the size of `into` and of each source: a whole number of elements, perhaps zero. Addresses need
/// no alignment. `into` overlaps no source; sources may overlap each other. The function keeps and allocates
/// nothing. Threads may sum at the same time if none writes what another reads or writes.
void add(Dtype dtype, std::byte* into, std::span<const std::byte* const> sources, Bytes size);

/// into = sources[0] + sources[1] + ..., like add(), but without reading `into`. There is at least one
/// source.
void sum(Dtype dtype, std::byte* into, std::span<const std::byte* const> sources, Bytes size);

/// Which instructions the sums use on this machine, by Highway's name: "AVX3", "NEON". For reports.
std::string instructions();

}  // namespace weir::real
