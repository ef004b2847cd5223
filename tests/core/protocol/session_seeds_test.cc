// Sessions from seeds, as in job_seeds_test.cc. To look at one of them: WEIR_SEED=17
// build/release/tests/weir_protocol_tests "[session]".
#include "tests/catch.h"
#include "tests/core/protocol/seeds.h"
#include "tests/core/protocol/session_sim.h"

namespace weir {
namespace {

std::string trial(std::uint64_t seed, const SessionCase& what) {
  SimulatedSession session(what, seed);
  const bool closely = std::getenv("WEIR_SEED") != nullptr;  // NOLINT: before any thread
  if (closely) session.listen();
  const std::string wrong = session.run();
  if (!closely) return wrong;
  fmt::print("seed {}: {}\n", seed, text(what));
  for (const std::string& line : session.lines()) fmt::print("{}\n", line);
  for (const SessionOutcome& outcome : session.outcomes()) {
    fmt::print("{:6.3f} s  {} {}\n", (outcome.at - Instant()).seconds(), outcome.name,
               outcome.crashed ? "crashes"
               : outcome.error ? "fails: " + outcome.error->text
                               : "ends well");
  }
  return wrong;
}

TEST_CASE("all processes of a session end in time with the same right story, whatever happens", "[session]") {
  int wrong = 0;
  for (const std::uint64_t seed : seeds(kSeeds)) {
    const SessionCase what = session_case(seed);
    const std::string why = trial(seed, what);
    if (why.empty()) continue;
    UNSCOPED_INFO("WEIR_SEED=" << seed << ": " << why << "\n  " << text(what));
    constexpr int kEnough = 20;
    if (++wrong == kEnough) break;
  }
  CHECK(wrong == 0);
}

// How many seeds are needed to find the mistake; 0 if none of them finds it.
std::uint64_t found_after(bool SessionCase::*mistake) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SessionCase what = session_case(seed);
    what.*mistake = true;
    if (!SimulatedSession(what, seed).run().empty()) return seed + 1;
  }
  return 0;
}

TEST_CASE("seeds find a rank or server that believes its first guess", "[session][canary]") {
  CHECK(found_after(&SessionCase::hasty) > 0);
}

TEST_CASE("seeds find a leader that does not look for silence", "[session][canary]") {
  CHECK(found_after(&SessionCase::deaf) > 0);
}

}  // namespace
}  // namespace weir
