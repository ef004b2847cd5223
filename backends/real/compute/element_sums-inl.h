// How to load, add and store elements of each type. Highway compiles this file once for each set of
// instructions. Only kernels.cc includes it.
//
// Elements are processed in steps of two vectors. Both vectors of a step have the same lane type, `Lane`. A
// struct has
//   kBytes        the size of an element
//   load(at)      the lanes of the step at an address, as low and high
//   store(...)    the reverse; the only rounding besides that of the additions
// Vectors are passed as arguments and never stored in members, since SVE does not allow vectors as members.
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

// A guard that toggles, so that the header is compiled once for each target.
#if defined(WEIR_REAL_ELEMENT_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef WEIR_REAL_ELEMENT_SUMS_INL_H
#undef WEIR_REAL_ELEMENT_SUMS_INL_H
#else
#define WEIR_REAL_ELEMENT_SUMS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace weir::real::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::ScalableTag<std::uint32_t>;
using Float = hn::Vec<Floats>;
using Word = hn::Vec<Words>;

/// f32 and f64. Integers too, as unsigned ones, because their overflow is defined.
template <class T>
struct Plain {
  using Lane = T;
  using Lanes = hn::ScalableTag<T>;
  using Vector = hn::Vec<Lanes>;
  static constexpr std::size_t kBytes = sizeof(T);

  static HWY_INLINE void load(const std::byte* at, Vector& low, Vector& high) {
    const auto* elements = reinterpret_cast<const T*>(at);
    low = hn::LoadU(Lanes(), elements);
    high = hn::LoadU(Lanes(), elements + hn::Lanes(Lanes()));
  }
  static HWY_INLINE void store(Vector low, Vector high, std::byte* at) {
    auto* elements = reinterpret_cast<T*>(at);
    hn::StoreU(low, Lanes(), elements);
    hn::StoreU(high, Lanes(), elements + hn::Lanes(Lanes()));
  }
};

// The nearest bf16, in the upper half. Adds half if the last bit that stays is set, else one less, so that
// ties go to even. NaN stays as it is, because rounding up could make it infinite.
HWY_INLINE Word rounded_bf16(Float value) {
  const Word bits = hn::BitCast(Words(), value);
  const auto odd = hn::TestBit(bits, hn::Set(Words(), 0x10000));
  const Word half = hn::IfThenElse(odd, hn::Set(Words(), 0x8000), hn::Set(Words(), 0x7FFF));
  return hn::Add(bits, hn::IfThenZeroElse(hn::RebindMask(Words(), hn::IsNaN(value)), half));
}

/// bf16: the upper half of an f32. A word holds two neighbours. One vector adds the even elements and the
/// other the odd ones, so that no element changes its place. Highway's own conversion truncates instead of
/// rounding, and its AVX-512 version flushes denormals to zero.
struct Bf16 {
  using Lane = float;
  using Vector = Float;
  static constexpr std::size_t kBytes = 2;

  static HWY_INLINE void load(const std::byte* at, Vector& low, Vector& high) {
    const Word pairs = hn::LoadU(Words(), reinterpret_cast<const std::uint32_t*>(at));
    low = hn::BitCast(Floats(), hn::ShiftLeft<16>(pairs));
    high = hn::BitCast(Floats(), hn::And(pairs, hn::Set(Words(), 0xFFFF0000)));
  }
  static HWY_INLINE void store(Vector low, Vector high, std::byte* at) {
    const Word pairs =
        hn::OrAnd(hn::ShiftRight<16>(rounded_bf16(low)), rounded_bf16(high), hn::Set(Words(), 0xFFFF0000));
    hn::StoreU(pairs, Words(), reinterpret_cast<std::uint32_t*>(at));
  }
};

#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)) || HWY_ARCH_ARM_A64

/// f16, on machines that convert it in hardware.
struct F16 {
  using Lane = float;
  using Vector = Float;
  using Halves = hn::Rebind<hwy::float16_t, Floats>;
  static constexpr std::size_t kBytes = 2;

  static HWY_INLINE void load(const std::byte* at, Vector& low, Vector& high) {
    const auto* elements = reinterpret_cast<const hwy::float16_t*>(at);
    low = hn::PromoteTo(Floats(), hn::LoadU(Halves(), elements));
    high = hn::PromoteTo(Floats(), hn::LoadU(Halves(), elements + hn::Lanes(Floats())));
  }
  static HWY_INLINE void store(Vector low, Vector high, std::byte* at) {
    auto* elements = reinterpret_cast<hwy::float16_t*>(at);
    hn::StoreU(hn::DemoteTo(Halves(), low), Halves(), elements);
    hn::StoreU(hn::DemoteTo(Halves(), high), Halves(), elements + hn::Lanes(Floats()));
  }
};

#else

/// The f32 of an f16 in the lower half of each word. A multiplication shifts the exponent, and also turns
/// denormals into normal numbers.
HWY_INLINE Float widened(Word halves) {
  const Word magnitude = hn::ShiftLeft<13>(hn::And(halves, hn::Set(Words(), 0x7FFF)));
  const Word sign = hn::ShiftLeft<16>(hn::And(halves, hn::Set(Words(), 0x8000)));
  const Float scaled = hn::Mul(hn::BitCast(Floats(), magnitude), hn::Set(Floats(), 0x1p112F));
  const Float infinite = hn::Or(scaled, hn::BitCast(Floats(), hn::Set(Words(), 0x7F800000)));  // or NaN
  const Float value = hn::IfThenElse(hn::Ge(scaled, hn::Set(Floats(), 0x1p16F)), infinite, scaled);
  return hn::Or(value, hn::BitCast(Floats(), sign));
}

/// The reverse: rounds to nearest, ties to even. The upper half of each word becomes zero. To round
/// denormals, it adds a number whose last bit has the value of their last bit.
HWY_INLINE Word narrowed(Float value) {
  const Word sign = hn::And(hn::BitCast(Words(), value), hn::Set(Words(), 0x80000000));
  const Word bits = hn::Xor(hn::BitCast(Words(), value), sign);
  const Float magnitude = hn::BitCast(Floats(), bits);
  const Word odd = hn::And(hn::ShiftRight<13>(bits), hn::Set(Words(), 1));
  const Word bias = hn::Set(Words(), 0xC8000FFF);  // (15 - 127) << 23, plus half of the last bit, minus one
  const Word normal = hn::ShiftRight<13>(hn::Add(hn::Add(bits, bias), odd));
  const Word tiny = hn::Sub(hn::BitCast(Words(), hn::Add(magnitude, hn::Set(Floats(), 0.5F))),
                            hn::Set(Words(), 0x3F000000));
  const auto choose = [](auto condition, Word yes, Word no) HWY_ATTR {
    return hn::BitCast(Words(),
                       hn::IfThenElse(condition, hn::BitCast(Floats(), yes), hn::BitCast(Floats(), no)));
  };
  Word half = choose(hn::Lt(magnitude, hn::Set(Floats(), 0x1p-14F)), tiny, normal);
  half = choose(hn::Ge(magnitude, hn::Set(Floats(), 0x1p16F)), hn::Set(Words(), 0x7C00), half);
  half = choose(hn::IsNaN(value), hn::Set(Words(), 0x7E00), half);
  return hn::Or(half, hn::ShiftRight<16>(sign));
}

/// f16, converted bit by bit on other machines. Highway's own conversion truncates instead of rounding, and
/// does not handle infinity. Neighbouring elements are split as in Bf16.
struct F16 {
  using Lane = float;
  using Vector = Float;
  static constexpr std::size_t kBytes = 2;

  static HWY_INLINE void load(const std::byte* at, Vector& low, Vector& high) {
    const Word pairs = hn::LoadU(Words(), reinterpret_cast<const std::uint32_t*>(at));
    low = widened(hn::And(pairs, hn::Set(Words(), 0xFFFF)));
    high = widened(hn::ShiftRight<16>(pairs));
  }
  static HWY_INLINE void store(Vector low, Vector high, std::byte* at) {
    const Word pairs = hn::Or(narrowed(low), hn::ShiftLeft<16>(narrowed(high)));
    hn::StoreU(pairs, Words(), reinterpret_cast<std::uint32_t*>(at));
  }
};

#endif

}  // namespace weir::real::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
