#include "backends/real/memory/pages.h"
#include "tests/backends/real/trial.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif

void check(const std::string& name, const ThreadWorld::Settings& how) {
  conformance::World world;
  world.name = fmt::format("{}, {} channels, {} threads", name, how.channels, how.transport.threads);
  world.exact = false;
  // The thread sanitizer keeps four times what is touched.
  world.room = available_memory() / (kThreadSanitizer ? 6 : 2);
  world.run = [how](const conformance::Trial& trial) { return run_trial(trial, how); };
  conformance::check_port(world);
}

TEST_CASE("nodes joined by TCP keep the contract of ports", "[conformance]") {
  const int count = GENERATE(1, 3);  // a loop would pass each section once
  ThreadWorld::Settings how;
  how.channels = how.threads = how.transport.threads = count;
  check("TCP", how);
}

TEST_CASE("nodes joined by sealed connections keep the contract of ports", "[conformance]") {
  ThreadWorld::Settings how;
  how.channels = how.transport.threads = 2;
  how.sealed = true;
  check("sealed TCP", how);
}

TEST_CASE("nodes that share memory keep the contract of ports", "[conformance]") {
  const int count = GENERATE(1, 3);  // a loop would pass each section once
  ThreadWorld::Settings how;
  how.channels = how.threads = how.transport.threads = count;
  how.shared_memory = true;
  check("shared memory", how);
}

}  // namespace
}  // namespace weir::real
