#include "core/formats/simgrid.h"

#include "tests/catch.h"
#include "tests/core/cluster/links.h"

// simgrid_routes.cc tests that SimGrid finds the cluster's routes in the platform.
namespace weir {
namespace {

TEST_CASE("a platform keeps SimGrid from modifying rates, and has a host for each memory") {
  const auto text = simgrid_platform(shipped_topology("byteps-v100-pcie"));
  REQUIRE(text);
  CHECK(text->find("<prop id=\"network/model\" value=\"CM02\"/>") != std::string::npos);
  CHECK(text->find("<host id=\"gpu[7].gpu7\" speed=\"1000Gf\" core=\"1\"/>") != std::string::npos);
  CHECK(text->find("<host id=\"cpu[3].numa0\" speed=\"1Gf\" core=\"32\"/>") != std::string::npos);
  CHECK(text->find("<link id=\"gpu[0].p0.up\" bandwidth=\"13125000000Bps\" latency=\"0ns\"/>") !=
        std::string::npos);
}

TEST_CASE("memories near several NICs use them in turn") {
  const Cluster cluster = cluster_of(R"({"name": "two", "groups": [{"name": "gpu", "count": 2,
      "gpus": [{"count": 3, "at": "numa0"}], "nics": [{"count": 2, "at": "numa0", "rate": "1GB/s"}]}]})");
  CHECK(platform_nic(cluster, MachineId(1), Memory::gpu(0)) == 0);
  CHECK(platform_nic(cluster, MachineId(1), Memory::gpu(1)) == 1);
  CHECK(platform_nic(cluster, MachineId(1), Memory::gpu(2)) == 0);
}

TEST_CASE("a cluster with too many machines for full routes is refused") {
  Topology topology = shipped_topology("toy-two-machines");
  topology.groups[0].count = 512;
  const auto text = simgrid_platform(topology);
  REQUIRE_FALSE(text);
  CHECK(text.error().text.find("513 machines are too many") == 0);
}

}  // namespace
}  // namespace weir
