#include "core/strategies/blocks/nics.h"

#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

Cluster two_machines() {
  return cluster_of(R"({"name": "several", "groups": [
      {"name": "gpu", "numa": [{}, {}], "sockets": [{"between": [0, 1]}], "gpus": [{"at": "numa0"}],
       "nics": [{"at": "numa0", "rate": {"in": "10Gbps", "out": "20Gbps"}}, {"at": "numa1", "rate": "30Gbps"}]},
      {"name": "cpu", "nics": [{"at": "numa0", "rate": "10Gbps"}]}]})");
}

TEST_CASE("traffic is spread over NICs by the rate of their slower direction") {
  const std::vector<double> fractions = nic_fractions(two_machines(), MachineId(0));
  REQUIRE(fractions.size() == 2);
  CHECK(fractions[0] == Approx(0.25));
  CHECK(fractions[1] == Approx(0.75));
  CHECK(numa_of_nic(two_machines(), MachineId(0), 1) == 1);
}

TEST_CASE("NICs take turns so that no part makes one much busier than the others") {
  NicTurns turns(two_machines());
  Bytes given[2];
  Bytes total;
  for (int i = 1; i <= 200; ++i) {
    const Bytes part = 1000_B * (1 + i % 7);
    given[turns.take(MachineId(0), part)] += part;
    total += part;
    CHECK(std::abs((given[1] * 4 - total * 3).count()) <= 28'000);
  }
  CHECK(turns.take(MachineId(1), 5_B) == 0);
}

}  // namespace
}  // namespace weir
