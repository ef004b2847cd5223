// Jobs from seeds: late notes, lost connections, and processes that crash, stop, come back or differ. To look
// at one and print every note: WEIR_SEED=17 build/release/tests/weir_protocol_tests "[job]".
#include <algorithm>

#include "tests/catch.h"
#include "tests/core/protocol/job_world.h"
#include "tests/core/protocol/seeds.h"

namespace weir {
namespace {

// What went wrong in the job of this seed. Prints the conversation if the seed is looked at closely.
std::string trial(std::uint64_t seed, const JobCase& what) {
  JobWorld world(what, seed);
  const bool closely = std::getenv("WEIR_SEED") != nullptr;  // NOLINT: before any thread
  if (closely) world.listen();
  const std::string wrong = world.run();
  if (!closely) return wrong;
  fmt::print("seed {}: {}\n", seed, text(what));
  for (const std::string& line : world.lines()) fmt::print("{}\n", line);
  for (const JobOutcome& outcome : world.outcomes()) {
    fmt::print("{:6.3f} s  {} {}\n", (outcome.at - Instant()).seconds(), outcome.name,
               outcome.crashed ? "crashes"
               : outcome.error ? "fails: " + outcome.error->text
                               : "succeeds");
  }
  return wrong;
}

TEST_CASE("all processes of a job end in time with the same right story, whatever happens", "[job]") {
  int wrong = 0;
  for (const std::uint64_t seed : seeds(kSeeds)) {
    const JobCase what = job_case(seed);
    const std::string why = trial(seed, what);
    if (why.empty()) continue;
    UNSCOPED_INFO("WEIR_SEED=" << seed << ": " << why << "\n  " << text(what));
    constexpr int kEnough = 20;
    if (++wrong == kEnough) break;
  }
  CHECK(wrong == 0);
}

// How many seeds are needed to find the mistake. Returns 0 if none finds it, or if one fails without it.
template <class Scene>
std::uint64_t found_after(bool JobCase::*mistake, const Scene& scene) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    JobCase what = job_case(seed);
    scene(what);
    if (!JobWorld(what, seed).run().empty()) return 0;
    what.*mistake = true;
    if (!JobWorld(what, seed).run().empty()) return seed + 1;
  }
  return 0;
}

void as_it_is(JobCase& /*what*/) {}

TEST_CASE("seeds find a machine that believes its first guess", "[job][canary]") {
  CHECK(found_after(&JobCase::hasty, as_it_is) > 0);
}

TEST_CASE("seeds find a driver that looks at deadlines before it hears what has come", "[job][canary]") {
  // While the coordinator is stopped, deadlines pass and everything that it waits for arrives.
  const auto scene = [](JobCase& what) {
    what.patience = Duration(1'500'000'000);
    const Instant begin = Instant(300'000'000) + what.planning;
    what.faults = {{JobFault::Kind::kStop, -1, begin, Duration(2'300'000'000)}};
  };
  CHECK(found_after(&JobCase::judges_first, scene) > 0);
}

TEST_CASE("seeds find a coordinator that does not look for silence while notes come", "[job][canary]") {
  CHECK(found_after(&JobCase::forgetful, as_it_is) > 0);
}

TEST_CASE("among a hundred machines one that crashes is found, however much the others say", "[job]") {
  JobCase what;
  what.machines = 100;
  what.faults.push_back({JobFault::Kind::kCrash, 17, Instant(2'000'000'000), {}});
  JobWorld world(what, 1);
  CHECK(world.run().empty());
}

TEST_CASE("a seed says everything: a job that is run again goes the same way", "[job]") {
  for (const std::uint64_t seed : {1UL, 17UL, 4711UL}) {
    const auto lines = [&] {
      JobWorld world(job_case(seed), seed);
      world.listen();
      (void)world.run();
      return world.lines();
    };
    CHECK(lines() == lines());
  }
}

}  // namespace
}  // namespace weir
