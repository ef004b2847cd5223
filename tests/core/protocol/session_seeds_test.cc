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

}  // namespace
}  // namespace weir
