// Jobs from seeds: late notes, lost connections, and processes that crash, stop, come back or differ. To look
// at one and print every note: WEIR_SEED=17 build/release/tests/weir_protocol_tests "[job]".
#include "tests/catch.h"
#include "tests/core/protocol/job_world.h"
#include "tests/core/protocol/seeds.h"

namespace weir {
namespace {

TEST_CASE("all processes of a job end in time and report the same right cause, whatever happens", "[job]") {
  check_seeds<JobWorld>(job_case);
}

using Mistake = JobCase::Mistake;

TEST_CASE("seeds find a machine that believes its first guess", "[job][canary]") {
  CHECK(found_after<JobWorld>(Mistake::kHasty, job_case) > 0);
}

TEST_CASE("seeds find a coordinator that does not compare versions or plans", "[job][canary]") {
  CHECK(found_after<JobWorld>(Mistake::kAnyVersion, job_case) > 0);
  CHECK(found_after<JobWorld>(Mistake::kAnyPlan, job_case) > 0);
}

TEST_CASE("seeds find a coordinator that waits in one phase without limit", "[job][canary]") {
  CHECK(found_after<JobWorld>(Mistake::kEndlessJoining, job_case) > 0);
  CHECK(found_after<JobWorld>(Mistake::kEndlessPlanning, job_case) > 0);
  CHECK(found_after<JobWorld>(Mistake::kEndlessMeeting, job_case) > 0);
  CHECK(found_after<JobWorld>(Mistake::kEndlessClocks, job_case) > 0);
}

TEST_CASE("seeds find a driver that checks deadlines before it reads notes that have arrived",
          "[job][canary]") {
  // While the coordinator is stopped, deadlines pass and everything that it waits for arrives.
  const auto stopped = [](std::uint64_t seed) {
    JobCase what = job_case(seed);
    what.patience = Duration(1'500'000'000);
    const Instant begin = Instant(300'000'000) + what.planning;
    what.faults = {{JobFault::Kind::kStop, -1, begin, Duration(2'300'000'000)}};
    return what;
  };
  CHECK(found_after<JobWorld>(Mistake::kJudgesFirst, stopped) > 0);
}

TEST_CASE("seeds find a coordinator that does not check for silence while notes arrive", "[job][canary]") {
  CHECK(found_after<JobWorld>(Mistake::kForgetful, job_case) > 0);
}

TEST_CASE("a crashed machine among a hundred is found, however many notes the others send", "[job]") {
  // It crashes while all plan, so nobody has a connection to it that could close.
  JobCase what;
  what.machines = 100;
  what.planning = Duration(3'000'000'000);
  what.faults.push_back({JobFault::Kind::kCrash, 17, Instant(900'000'000), {}});
  JobWorld world(what, 1);
  CHECK(world.run().empty());
  CHECK(world.outcomes().front().error.value().text == "gpu[17] has said nothing for 3s");
  what.mistake = Mistake::kForgetful;
  CHECK(!JobWorld(what, 1).run().empty());
}

TEST_CASE("a seed determines everything: a job that runs again goes the same way", "[job]") {
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
