#include "backends/real/meters/memory_loops.h"

#include <array>
#include <cstdint>
#include <utility>

#include "core/base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/real/meters/memory_loops.cc"
#include <hwy/foreach_target.h>
// After that one:
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace weir::real::HWY_NAMESPACE {

using Word64 = std::uint64_t;

template <std::size_t... kSources>
HWY_INLINE void pass(std::byte* into, const std::byte* const* sources, std::size_t words,
                     std::index_sequence<kSources...>) {
  auto* __restrict target = reinterpret_cast<Word64*>(into);
  const std::array<const Word64*, sizeof...(kSources)> from = {
      reinterpret_cast<const Word64*>(sources[kSources])...};
  for (std::size_t i = 0; i < words; ++i) target[i] = (target[i] | ... | from[kSources][i]);
}

template <std::size_t kCount>
void pass_all(std::byte* into, const std::byte* const* sources, std::size_t words) {
  pass(into, sources, words, std::make_index_sequence<kCount>());
}

void pass_words(std::byte* into, std::span<const std::byte* const> sources, std::size_t words) {
  using Loop = void (*)(std::byte*, const std::byte* const*, std::size_t);
  constexpr std::array<Loop, 8> kLoops = {pass_all<1>, pass_all<2>, pass_all<3>, pass_all<4>,
                                          pass_all<5>, pass_all<6>, pass_all<7>, pass_all<8>};
  kLoops[sources.size() - 1](into, sources.data(), words);
}

}  // namespace weir::real::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weir::real {
namespace {

HWY_EXPORT(pass_words);

}  // namespace

void pass_memory(std::byte* into, std::span<const std::byte* const> sources, Bytes size) {
  WEIR_CHECK(!sources.empty() && sources.size() <= 8, sources.size());
  WEIR_CHECK(size >= Bytes(0) && size.count() % 8 == 0, size.count());
  HWY_DYNAMIC_DISPATCH(pass_words)(into, sources, static_cast<std::size_t>(size.count()) / 8);
}

}  // namespace weir::real
#endif
