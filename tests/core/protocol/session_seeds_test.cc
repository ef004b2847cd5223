// Sessions from seeds, as in job_seeds_test.cc. To look at one of them: WEIR_SEED=17
// build/release/tests/weir_protocol_tests "[session]".
#include "tests/catch.h"
#include "tests/core/protocol/seeds.h"
#include "tests/core/protocol/session_sim.h"

namespace weir {
namespace {

TEST_CASE("all processes of a session end in time and report the same right cause, whatever happens",
          "[session]") {
  check_seeds<SimulatedSession>(session_case);
}

using Mistake = SessionCase::Mistake;

TEST_CASE("seeds find a rank or server that believes its first guess", "[session][canary]") {
  CHECK(found_after<SimulatedSession>(Mistake::kHasty, session_case) > 0);
}

TEST_CASE("seeds find a leader that does not check for silence", "[session][canary]") {
  CHECK(found_after<SimulatedSession>(Mistake::kDeaf, session_case) > 0);
}

TEST_CASE("seeds find a leader that does not compare versions or plans", "[session][canary]") {
  CHECK(found_after<SimulatedSession>(Mistake::kAnyVersion, session_case) > 0);
  CHECK(found_after<SimulatedSession>(Mistake::kAnyPlan, session_case) > 0);
}

TEST_CASE("seeds find a leader that says goodbye when the first rank leaves", "[session][canary]") {
  CHECK(found_after<SimulatedSession>(Mistake::kFirstLeaves, session_case) > 0);
}

TEST_CASE("seeds find a leader that waits for seats without limit", "[session][canary]") {
  CHECK(found_after<SimulatedSession>(Mistake::kEndlessSeating, session_case) > 0);
}

TEST_CASE("seeds find a leader that does not ask for rounds in which ranks may differ", "[session][canary]") {
  CHECK(found_after<SimulatedSession>(Mistake::kNeverWatches, session_case) > 0);
}

TEST_CASE("seeds find a leader that sends a refusal to one rank only", "[session][canary]") {
  CHECK(found_after<SimulatedSession>(Mistake::kKeepsRefusal, session_case) > 0);
}

}  // namespace
}  // namespace weir
