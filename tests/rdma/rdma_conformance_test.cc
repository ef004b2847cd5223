// Checks the contract of ports over real verbs. WEIR_RDMA_ADDRESSES holds the devices' addresses:
// "10.77.0.1,10.77.0.2".
#include <cstdlib>
#include <sstream>

#include "tests/backends/real/compute/ordered_sums.h"
#include "tests/backends/real/trial.h"
#include "tests/catch.h"
#include "tests/conformance/echo.h"

namespace weir::real {
namespace {

std::vector<std::string> addresses() {
  const char* const given = std::getenv("WEIR_RDMA_ADDRESSES");
  if (given == nullptr) FAIL("skipped: WEIR_RDMA_ADDRESSES names no devices");
  std::vector<std::string> all;
  std::istringstream stream(given);
  for (std::string one; std::getline(stream, one, ',');) all.push_back(one);
  return all;
}

ThreadWorld::Settings over(const Wire& wire) {
  ThreadWorld::Settings how;
  how.choice = choice_of(wire.name);
  how.hosts = addresses();
  return how;
}

ThreadWorld::Settings over_rdma() { return over(*find_wire("rdma")); }

TEST_CASE("nodes joined by any wire over devices keep the contract of ports", "[conformance]") {
  const Wire* const wire = GENERATE(from_range(wires_over_devices()));  // a loop would run each section once
  const int count = GENERATE(1, 3);
  ThreadWorld::Settings how = over(*wire);
  for (const std::string& host : how.hosts) REQUIRE(wire->available(host));
  how.channels = how.threads = how.transport.threads = count;
  check_contract(how);
}

TEST_CASE("nodes that wait for their device's events keep the contract of ports", "[conformance]") {
  ThreadWorld::Settings how = over(*GENERATE(from_range(wires_over_devices())));
  how.transport.poll = Duration(0);
  check_contract(how);
}

TEST_CASE("a message over RDMA may be larger than a region") {
  ThreadWorld::Settings how = over_rdma();
  how.channels = 2;
  check_large(Bytes((512 << 20) + 3), how);
}

TEST_CASE("sums over RDMA and TCP are the same, bit by bit") {
  for (const char* strategy : {"unified", "ps", "ring"})
    CHECK(ordered_sums(strategy, 1, over_rdma()) == ordered_sums(strategy, 2, ThreadWorld::Settings()));
}

// After nodes have met, no memory is registered. Processors copy only messages smaller than their own
// description.
TEST_CASE("messages over RDMA cost neither registrations nor copies") {
  const conformance::Echo echo({Bytes(1), Bytes(4097), Bytes(1 << 20)});
  ThreadWorld world(*echo.plan, conformance::pair());
  for (const int iterations : {1, 20}) {
    REQUIRE(world.run({Policy::kPriority, Bytes(1 << 30)}, iterations, over_rdma()));
    for (const auto& device : world.devices()) {
      CHECK(device->counts().registrations == 1);  // of the node's buffer
      CHECK(device->counts().written == iterations * static_cast<std::int64_t>(echo.half));
      CHECK(device->counts().copied == iterations);
    }
  }
}

}  // namespace
}  // namespace weir::real
