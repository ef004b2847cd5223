// Which seeds a test goes through: all of them, or the one that is to be looked at.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace weir {

/// `count` seeds from 0 on. WEIR_SEEDS is another number of them; WEIR_SEED is one seed alone.
inline std::vector<std::uint64_t> seeds(std::uint64_t count) {
  if (const char* const one = std::getenv("WEIR_SEED"))
    return {std::stoull(one)};  // NOLINT: before any thread
  if (const char* const many = std::getenv("WEIR_SEEDS")) count = std::stoull(many);
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

/// How many a build goes through in CI's time.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 500;
#else
constexpr std::uint64_t kSeeds = 20'000;
#endif

}  // namespace weir
