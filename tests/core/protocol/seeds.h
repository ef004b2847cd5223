// The seeds that a test tries: all of them, or one to look at closely.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "tests/catch.h"

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

/// Runs the case of this seed in the simulated world. Returns what went wrong; empty if nothing did. Prints
/// the conversation if WEIR_SEED selects the seed.
template <class World, class Case>
std::string try_seed(std::uint64_t seed, const Case& what) {
  World world(what, seed);
  const bool closely = std::getenv("WEIR_SEED") != nullptr;  // NOLINT: before any thread
  if (closely) world.listen();
  const std::string wrong = world.run();
  if (!closely) return wrong;
  fmt::print("seed {}: {}\n", seed, text(what));
  for (const std::string& line : world.lines()) fmt::print("{}\n", line);
  for (const auto& outcome : world.outcomes()) {
    fmt::print("{:6.3f} s  {} {}\n", (outcome.at - Instant()).seconds(), outcome.name,
               outcome.crashed ? "crashes"
               : outcome.error ? "fails: " + outcome.error->text
                               : "succeeds");
  }
  return wrong;
}

/// Checks that nothing goes wrong for any seed; names the first ones that do.
template <class World, class CaseOf>
void check_seeds(const CaseOf& case_of) {
  constexpr int kEnough = 20;
  int wrong = 0;
  for (const std::uint64_t seed : seeds(kSeeds)) {
    const auto what = case_of(seed);
    const std::string why = try_seed<World>(seed, what);
    if (why.empty()) continue;
    UNSCOPED_INFO("WEIR_SEED=" << seed << ": " << why << "\n  " << text(what));
    if (++wrong == kEnough) break;
  }
  CHECK(wrong == 0);
}

/// How many seeds are needed to find the mistake. Returns 0 if none finds it, or if one fails without it.
template <class World, class Mistake, class CaseOf>
std::uint64_t found_after(Mistake mistake, const CaseOf& case_of) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    auto what = case_of(seed);
    if (!World(what, seed).run().empty()) return 0;
    what.mistake = mistake;
    if (!World(what, seed).run().empty()) return seed + 1;
  }
  return 0;
}

}  // namespace weir
