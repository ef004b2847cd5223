// A short hash of text, by which equal things are recognized.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace weir {

/// The 64-bit FNV-1a hash, the same in every version of Weir. Guards against mistakes, not against malice.
constexpr std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325ULL;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return value;
}

/// The hash as 16 hexadecimal digits.
inline std::string hash_of(std::string_view text) { return fmt::format("{:016x}", fnv1a(text)); }

}  // namespace weir
