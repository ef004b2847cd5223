#include "backends/real/process/threads.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <thread>

#include "tests/catch.h"

namespace weir::real {
namespace {

TEST_CASE("the system's lists of CPUs are read") {
  CHECK(numbers_in("0") == std::vector{0});
  CHECK(numbers_in("0-3,8,10-11") == std::vector{0, 1, 2, 3, 8, 10, 11});
  CHECK(numbers_in("").empty());
  for (const char* wrong : {"x", "1-", "-1", "3-1", "1 2", "0-999999999"}) {
    INFO(wrong);
    CHECK(numbers_in(wrong).empty());
  }
}

TEST_CASE("each allowed CPU belongs to one NUMA node") {
  std::vector<int> all;
  for (const int node : numa_nodes()) {
    if (const auto cpus = cpus_of(node)) all.insert(all.end(), cpus->begin(), cpus->end());
  }
  std::sort(all.begin(), all.end());
  CHECK(all == allowed_cpus());
  CHECK_FALSE(all.empty());
}

TEST_CASE("a thread that pins itself stays on its CPU and leaves other threads free") {
  const std::vector<int> before = allowed_cpus();
  std::thread([&] {
    REQUIRE(pin_to_cpus(std::array{before.back()}).has_value());
    CHECK(sched_getcpu() == before.back());
    CHECK(allowed_cpus() == before);
    REQUIRE(pin_to_numa(numa_nodes().front()).has_value());
  }).join();
  CHECK(allowed_cpus() == before);
}

TEST_CASE("a missing NUMA node or CPU is an error that lists the existing ones") {
  const auto none = cpus_of(4711);
  REQUIRE_FALSE(none.has_value());
  CHECK_THAT(none.error().text, has_text("no NUMA node 4711; try 0"));
  CHECK_FALSE(pin_to_numa(4711).has_value());
  const auto nowhere = pin_to_cpus(std::array{16'000});
  REQUIRE_FALSE(nowhere.has_value());
  CHECK_THAT(nowhere.error().text, has_text("cannot pin a thread to CPUs 16000"));
}

}  // namespace
}  // namespace weir::real
