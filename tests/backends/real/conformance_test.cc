// The contract of ports over every wire that works on any host. Wires that need devices: tests/rdma.
#include "tests/backends/real/trial.h"
#include "tests/catch.h"

namespace weir::real {
namespace {

TEST_CASE("nodes joined by any wire keep the contract of ports", "[conformance]") {
  const Wire* const wire = GENERATE(from_range(wires_of_any_host()));  // a loop would run each section once
  const int count = GENERATE(1, 3);
  ThreadWorld::Settings how;
  how.choice = choice_of(wire->name);
  how.channels = how.threads = how.transport.threads = count;
  check_contract(how);
}

TEST_CASE("nodes joined by sealed connections keep the contract of ports", "[conformance]") {
  ThreadWorld::Settings how;
  how.channels = how.transport.threads = 2;
  how.sealed = true;
  check_contract(how);
}

}  // namespace
}  // namespace weir::real
