// Sums by a plain loop over elements, with conversions by arithmetic instead of bits. Tests compare the
// kernels with them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "core/base/dtype.h"

namespace weir::real::oracle {

/// A binary floating-point format of 16 bits, described by the bits of its fraction and exponent.
struct Format {
  int fraction;
  int exponent;

  int bias() const { return (1 << (exponent - 1)) - 1; }
};
inline constexpr Format kF16 = {10, 5};
inline constexpr Format kBf16 = {7, 8};

inline float widened(std::uint16_t bits, Format format) {
  const int exponent = (bits >> format.fraction) & ((1 << format.exponent) - 1);
  const int fraction = bits & ((1 << format.fraction) - 1);
  const float sign = (bits & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == (1 << format.exponent) - 1) {
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN()
                         : sign * std::numeric_limits<float>::infinity();
  }
  const int whole = exponent == 0 ? fraction : fraction + (1 << format.fraction);
  return sign *
         std::ldexp(static_cast<float>(whole), std::max(exponent, 1) - format.bias() - format.fraction);
}

/// Rounded to nearest, ties to even.
inline std::uint16_t narrowed(float value, Format format) {
  const int infinity = ((1 << format.exponent) - 1) << format.fraction;
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::abs(static_cast<double>(value));
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | 1);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  const int least = 1 - format.bias();
  const int exponent = magnitude == 0 ? least : std::max(std::ilogb(magnitude), least);
  const double steps = std::nearbyint(std::ldexp(magnitude, format.fraction - exponent));
  // The steps of a normal number include its leading one, so the exponent's field is one less here.
  const int bits = static_cast<int>(steps) + ((exponent - least) << format.fraction);
  return static_cast<std::uint16_t>(sign | std::min(bits, infinity));
}

template <class T>
T element(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

template <class T>
void sum_plain(std::byte* into, std::span<const std::byte* const> terms, std::size_t size) {
  for (std::size_t at = 0; at < size; at += sizeof(T)) {
    T total = element<T>(terms[0] + at);
    for (const std::byte* term : terms.subspan(1)) total = static_cast<T>(total + element<T>(term + at));
    std::memcpy(into + at, &total, sizeof(total));
  }
}

inline void sum_narrow(Format format, std::byte* into, std::span<const std::byte* const> terms,
                       std::size_t size) {
  for (std::size_t at = 0; at < size; at += 2) {
    float total = widened(element<std::uint16_t>(terms[0] + at), format);
    for (const std::byte* term : terms.subspan(1)) {
      total += widened(element<std::uint16_t>(term + at), format);
    }
    const std::uint16_t bits = narrowed(total, format);
    std::memcpy(into + at, &bits, sizeof(bits));
  }
}

/// into = terms[0] + terms[1] + ...; `into` may be terms[0].
inline void sum(Dtype dtype, std::byte* into, std::span<const std::byte* const> terms, std::size_t size) {
  switch (dtype) {
    case Dtype::kF16:
      return sum_narrow(kF16, into, terms, size);
    case Dtype::kBf16:
      return sum_narrow(kBf16, into, terms, size);
    case Dtype::kF32:
      return sum_plain<float>(into, terms, size);
    case Dtype::kF64:
      return sum_plain<double>(into, terms, size);
    case Dtype::kI32:
      return sum_plain<std::uint32_t>(into, terms, size);
    case Dtype::kI64:
      return sum_plain<std::uint64_t>(into, terms, size);
  }
}

/// Whether the element is not a number. Which NaN a sum returns is not defined, so tests ignore it.
inline bool no_number(Dtype dtype, const std::byte* at) {
  switch (dtype) {
    case Dtype::kF16:
      return std::isnan(widened(element<std::uint16_t>(at), kF16));
    case Dtype::kBf16:
      return std::isnan(widened(element<std::uint16_t>(at), kBf16));
    case Dtype::kF32:
      return std::isnan(element<float>(at));
    case Dtype::kF64:
      return std::isnan(element<double>(at));
    case Dtype::kI32:
    case Dtype::kI64:
      return false;
  }
  return false;
}

/// Offset in bytes of the first difference between two results; `size` if there is none.
inline std::size_t difference(Dtype dtype, const std::byte* one, const std::byte* other, std::size_t size) {
  const auto step = static_cast<std::size_t>(weir::size(dtype).count());
  for (std::size_t at = 0; at < size; at += step) {
    if (std::memcmp(one + at, other + at, step) == 0) continue;
    if (!no_number(dtype, one + at) || !no_number(dtype, other + at)) return at;
  }
  return size;
}

}  // namespace weir::real::oracle
