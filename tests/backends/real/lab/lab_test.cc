#include "backends/real/lab/lab.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "backends/real/lab/batch.h"
#include "backends/real/lab/holder.h"
#include "backends/real/process/clock.h"
#include "core/cluster/topology_file.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

TEST_CASE("a wait for a process ends in time even without free descriptors") {
  const auto document = parse_document(R"({"name": "one", "groups": [{"name": "cpu", "count": 1,
      "nics": [{"at": "numa0", "rate": "1Gbps"}]}]})",
                                       "test");
  const Cluster cluster(read_topology(document.value(), "").value());
  const auto lab = Lab::up(cluster);
  if (!lab) {
    WARN("no lab can be had here: " + lab.error().text);
    return;
  }
  const auto process = (*lab)->spawn(MachineId(0), [] {
    ::sleep(60);
    return 0;
  });
  REQUIRE(process);
  rlimit before = {};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(Descriptor(::dup(0)).number());  // allows no further descriptors
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const Instant begin = Clock::monotonic();
  const auto ended = (*lab)->wait(*process, Duration(200'000'000));
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE_FALSE(ended);
  CHECK(Clock::monotonic() - begin < Duration(2'000'000'000));
}

TEST_CASE("masks of CPUs are 32-bit words, the highest first") {
  CHECK(cpu_mask({0}) == "00000001");
  CHECK(cpu_mask({31, 32}) == "00000001,80000000");
  CHECK(cpu_mask({2, 64}) == "00000001,00000000,00000004");
}

TEST_CASE("a lab starts if a batch fails that is not needed, and fails if another does") {
  const auto document = parse_document(R"({"name": "two", "groups": [{"name": "cpu", "count": 2,
      "nics": [{"at": "numa0", "rate": "1Gbps"}]}]})",
                                       "test");
  const Cluster cluster(read_topology(document.value(), "").value());
  if (const auto lab = Lab::up(cluster); !lab) {
    WARN("no lab can be had here: " + lab.error().text);
    return;
  }
  auto wired = wiring(cluster).value();
  wired.batches.push_back({MachineId(0), "sysctl", "no/such/setting=1\n", false});
  const auto without = hold(wired, 2, nullptr);
  REQUIRE(without);
  kill(without->process, SIGKILL);
  waitpid(without->process, nullptr, 0);
  wired.batches.back().needed = true;
  const auto held = hold(wired, 2, nullptr);
  REQUIRE_FALSE(held);
  CHECK_THAT(held.error().text, has_text("cannot write /proc/sys/no/such/setting"));
}

}  // namespace
}  // namespace weir::real
