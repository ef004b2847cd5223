#include "backends/real/compute/kernels.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/base/check.h"

// Highway includes this file once more for each set of instructions.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/real/compute/kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h:
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "backends/real/compute/element_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weir::real::HWY_NAMESPACE {

// The operands of one sum. Without `keep`, the old content of `into` is not added.
struct Operands {
  std::byte* into;
  const std::byte* const* sources;
  std::size_t count;
  bool keep;

  const std::byte* first() const { return keep ? into : sources[0]; }
  std::size_t second() const { return keep ? 0 : 1; }
};

// Prefetches each operand this far ahead. Processors also prefetch on their own, but not far enough when
// eight sources are converted on the way. Without this, f16 and bf16 reach 80 % of the memory's rate; with
// it, all of it (`weir bench sum --sources 8`).
constexpr std::size_t kAhead = 1024;
constexpr std::size_t kLine = 64;

HWY_INLINE void prefetch(const std::byte* at, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kLine) hwy::Prefetch(at + kAhead + i);
}

// Two steps at once, so that four vectors are added in parallel. All sources of a step are added before its
// only store. So memory is passed once, however many sources there are.
template <class Kind>
HWY_INLINE void sum_two_steps(const Operands& operands, std::size_t offset, std::size_t step) {
  using Vector = typename Kind::Vector;
  Vector a;
  Vector b;
  Vector c;
  Vector d;
  const std::byte* const first = operands.first() + offset;
  prefetch(first, 2 * step);
  Kind::load(first, a, b);
  Kind::load(first + step, c, d);
  for (std::size_t i = operands.second(); i < operands.count; ++i) {
    const std::byte* const source = operands.sources[i] + offset;
    Vector e;
    Vector f;
    Vector g;
    Vector h;
    prefetch(source, 2 * step);
    Kind::load(source, e, f);
    Kind::load(source + step, g, h);
    a = hn::Add(a, e);
    b = hn::Add(b, f);
    c = hn::Add(c, g);
    d = hn::Add(d, h);
  }
  Kind::store(a, b, operands.into + offset);
  Kind::store(c, d, operands.into + offset + step);
}

// The elements at the end, at most one step. Copies them through memory that holds a whole step.
template <class Kind>
HWY_INLINE void sum_part_of_step(const Operands& operands, std::size_t offset, std::size_t bytes) {
  using Vector = typename Kind::Vector;
  alignas(64) std::byte room[2 * HWY_MAX_BYTES] = {};
  Vector a;
  Vector b;
  std::memcpy(room, operands.first() + offset, bytes);
  Kind::load(room, a, b);
  for (std::size_t i = operands.second(); i < operands.count; ++i) {
    Vector c;
    Vector d;
    std::memcpy(room, operands.sources[i] + offset, bytes);
    Kind::load(room, c, d);
    a = hn::Add(a, c);
    b = hn::Add(b, d);
  }
  Kind::store(a, b, room);
  std::memcpy(operands.into + offset, room, bytes);
}

template <class Kind>
HWY_INLINE void sum_all(const Operands& operands, std::size_t size) {
  const std::size_t step = 2 * Kind::kBytes * hn::Lanes(hn::ScalableTag<typename Kind::Lane>());
  std::size_t offset = 0;
  for (; size - offset >= 2 * step; offset += 2 * step) sum_two_steps<Kind>(operands, offset, step);
  while (offset < size) {
    const std::size_t bytes = std::min(step, size - offset);
    sum_part_of_step<Kind>(operands, offset, bytes);
    offset += bytes;
  }
}

void sum_elements(Dtype dtype, std::byte* into, std::span<const std::byte* const> sources, std::size_t size,
                  bool keep) {
  const Operands operands = {into, sources.data(), sources.size(), keep};
  switch (dtype) {
    case Dtype::kF16:
      return sum_all<F16>(operands, size);
    case Dtype::kBf16:
      return sum_all<Bf16>(operands, size);
    case Dtype::kF32:
      return sum_all<Plain<float>>(operands, size);
    case Dtype::kF64:
      return sum_all<Plain<double>>(operands, size);
    case Dtype::kI32:
      return sum_all<Plain<std::uint32_t>>(operands, size);
    case Dtype::kI64:
      return sum_all<Plain<std::uint64_t>>(operands, size);
  }
}

std::string instructions() { return hwy::TargetName(HWY_TARGET); }

}  // namespace weir::real::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weir::real {
namespace {

HWY_EXPORT(sum_elements);
HWY_EXPORT(instructions);

std::size_t checked_size(Dtype dtype, const std::byte* into, std::span<const std::byte* const> sources,
                         Bytes size) {
  WEIR_CHECK(size >= Bytes(0) && size.count() % weir::size(dtype).count() == 0, size.count(), name(dtype));
  const auto count = static_cast<std::size_t>(size.count());
  const auto target = reinterpret_cast<std::uintptr_t>(into);
  for (const std::byte* source : sources) {
    const auto from = reinterpret_cast<std::uintptr_t>(source);
    WEIR_CHECK(from + count <= target || target + count <= from, from, target, count);
  }
  return count;
}

}  // namespace

void add(Dtype dtype, std::byte* into, std::span<const std::byte* const> sources, Bytes size) {
  const std::size_t count = checked_size(dtype, into, sources, size);
  constexpr bool kKeep = true;
  if (!sources.empty()) HWY_DYNAMIC_DISPATCH(sum_elements)(dtype, into, sources, count, kKeep);
}

void sum(Dtype dtype, std::byte* into, std::span<const std::byte* const> sources, Bytes size) {
  const std::size_t count = checked_size(dtype, into, sources, size);
  WEIR_CHECK(!sources.empty());
  constexpr bool kKeep = false;
  HWY_DYNAMIC_DISPATCH(sum_elements)(dtype, into, sources, count, kKeep);
}

std::string instructions() { return HWY_DYNAMIC_DISPATCH(instructions)(); }

}  // namespace weir::real
#endif
