// The seeds that a test tries: all of them, or one to look at closely.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace weir {

/// Returns `count` seeds from 0 on. WEIR_SEEDS overrides the count; WEIR_SEED selects a single seed.
inline std::vector<std::uint64_t> seeds(std::uint64_t count) {
  if (const char* const one = std::getenv("WEIR_SEED"))
    return {std::stoull(one)};  // NOLINT: before any thread
  if (const char* const many = std::getenv("WEIR_SEEDS")) count = std::stoull(many);
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

/// How many seeds fit into CI's time in this kind of build.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 500;
#else
constexpr std::uint64_t kSeeds = 20'000;
#endif

}  // namespace weir
