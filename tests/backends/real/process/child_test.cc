// Tests for child processes that fail or hang.
#include "backends/real/process/child.h"

#include <unistd.h>

#include <csignal>

#include "backends/real/process/clock.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

constexpr Duration kChildPatience{300'000'000};

template <class Body>
pid_t child(const Body& body) {
  const pid_t process = fork_child();
  if (process != 0) return process;
  body();
  ::_exit(0);
}

TEST_CASE("waiting for children succeeds if all do, and names one that fails") {
  const auto nothing = [] {};
  CHECK(wait_for_children({child(nothing), child(nothing)}, "which does nothing", kChildPatience * 10));
  const pid_t failing = child([] { ::_exit(1); });
  const auto waited = wait_for_children({child(nothing), failing}, "which fails", kChildPatience * 10);
  REQUIRE_FALSE(waited);
  CHECK(waited.error().text == "process " + std::to_string(failing) + ", which fails, failed");
}

TEST_CASE("a stopped child is named after the deadline, and no child is left") {
  const pid_t stopped = child([] { ::raise(SIGSTOP); });
  const pid_t waiting = child([] { ::pause(); });
  const Instant begin = Clock::monotonic();
  const auto waited = wait_for_children({stopped, waiting}, "which waits", kChildPatience);
  CHECK(Clock::monotonic() - begin < kChildPatience * 10);
  REQUIRE_FALSE(waited);
  CHECK(waited.error().text ==
        "process " + std::to_string(stopped) + ", which waits, did not end within 0.3s");
  for (const pid_t process : {stopped, waiting}) CHECK(::kill(process, 0) != 0);
}

}  // namespace
}  // namespace weir::real
