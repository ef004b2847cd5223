// How elements of each type are loaded, added and stored, for the instructions that Highway is compiling for.
// Included once for each of them, by kernels.cc alone.
//
// Elements are taken in steps of two vectors that are added as one kind of lane, `Lane`. A struct has
//   kBytes        the size of an element
//   load(at)      the lanes of the step at an address, as low and high
//   store(...)    the reverse, with the only rounding that there is besides that of the additions
// Vectors are passed and never stored in members, as those of SVE must not be.
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

// Toggled, so that the header is compiled once for each target.
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

/// f32 and f64; integers too, as unsigned ones, whose overflow is defined.
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

// The nearest bf16, in the upper half: ties to even need one less where the bit before the half is not set.
// What is no number stays as it is, as rounding up could make it infinite.
HWY_INLINE Word rounded_bf16(Float value) {
  const Word bits = hn::BitCast(Words(), value);
  const auto odd = hn::TestBit(bits, hn::Set(Words(), 0x10000));
  const Word half = hn::IfThenElse(odd, hn::Set(Words(), 0x8000), hn::Set(Words(), 0x7FFF));
  return hn::Add(bits, hn::IfThenZeroElse(hn::RebindMask(Words(), hn::IsNaN(value)), half));
}

/// bf16: the upper half of an f32. Two neighbours are a word; the even ones are added in one vector and the
/// odd ones in the other, so that no element changes its place. Highway's own conversion cuts instead of
/// rounding, and that of AVX-512 takes denormals for zero.
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

/// f16, where the machine converts it.
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

/// The f32 of an f16 in the lower half of each word: the exponent is moved by a multiplication, which also
/// makes denormals normal.
HWY_INLINE Float widened(Word halves) {
  const Word magnitude = hn::ShiftLeft<13>(hn::And(halves, hn::Set(Words(), 0x7FFF)));
  const Word sign = hn::ShiftLeft<16>(hn::And(halves, hn::Set(Words(), 0x8000)));
  const Float scaled = hn::Mul(hn::BitCast(Floats(), magnitude), hn::Set(Floats(), 0x1p112F));
  const Float infinite = hn::Or(scaled, hn::BitCast(Floats(), hn::Set(Words(), 0x7F800000)));  // or no number
  const Float value = hn::IfThenElse(hn::Ge(scaled, hn::Set(Floats(), 0x1p16F)), infinite, scaled);
  return hn::Or(value, hn::BitCast(Floats(), sign));
}

/// The reverse, rounded to nearest and ties to even; zeros above. Denormals are rounded by adding a number
/// whose last bit is theirs.
HWY_INLINE Word narrowed(Float value) {
  const Word sign = hn::And(hn::BitCast(Words(), value), hn::Set(Words(), 0x80000000));
  const Word bits = hn::Xor(hn::BitCast(Words(), value), sign);
  const Float magnitude = hn::BitCast(Floats(), bits);
  const Word odd = hn::And(hn::ShiftRight<13>(bits), hn::Set(Words(), 1));
  const Word bias = hn::Set(Words(), 0xC8000FFF);  // (15 - 127) << 23, and half of the last bit but one
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

/// f16, where it must be converted bit by bit. Highway's own conversion cuts instead of rounding, and knows
/// no infinity. Neighbouring elements are taken as those of bf16 are.
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
