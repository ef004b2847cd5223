// Children that do not end as they should.
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

TEST_CASE("children that end well are waited for, and one that fails is named") {
  const auto nothing = [] {};
  CHECK(wait_for_children({child(nothing), child(nothing)}, "which does nothing", kChildPatience * 10));
  const pid_t failing = child([] { ::_exit(1); });
  const auto waited = wait_for_children({child(nothing), failing}, "which fails", kChildPatience * 10);
  REQUIRE_FALSE(waited);
  CHECK(waited.error().text == "process " + std::to_string(failing) + ", which fails, failed");
}

TEST_CASE("a child that is stopped is named after so long, and none is left") {
  const pid_t stopped = child([] { ::raise(SIGSTOP); });
  const pid_t waiting = child([] { ::pause(); });
  const Instant begin = Clock::monotonic();
  const auto waited = wait_for_children({stopped, waiting}, "which waits", kChildPatience);
  CHECK(Clock::monotonic() - begin < kChildPatience * 10);
  REQUIRE_FALSE(waited);
  CHECK(waited.error().text ==
        "process " + std::to_string(stopped) + ", which waits, has not ended after 0.3s");
  for (const pid_t process : {stopped, waiting}) CHECK(::kill(process, 0) != 0);
}

}  // namespace
}  // namespace weir::real
