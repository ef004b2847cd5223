#include <chrono>

#include "core/cluster/cluster.h"
#include "core/cluster/topology.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

constexpr MachineId kFirst(0);
constexpr MachineId kSecond(1);

// Routes within the first machine, and from the first to the second.
std::string inside(const Cluster& cluster, Memory from, Memory into) {
  return names(cluster, cluster.route(kFirst, from, into).links);
}

// The PCIe machine of BytePS 4.2.1, with limited memory:
//
//     numa0 ----------- numa1
//      |  \               |
//      p0  nic0           p1
//    / | | \           / | | \            .
//   0  1 2  3         4  5 6  7
constexpr const char* kPcie = R"({
  "name": "pcie",
  "groups": [{
    "name": "gpu", "count": 2,
    "numa": [{"memory_rate": "128GB/s"}, {}],
    "sockets": [{"between": [0, 1], "rate": {"in": "200Gbps", "out": "300Gbps"}, "latency": "4us"}],
    "switches": [{"name": "p0", "at": "numa0", "rate": "105Gbps", "latency": "2us", "peer_rate": "80Gbps"},
                 {"name": "p1", "at": "numa1", "rate": "105Gbps"}],
    "gpus": [{"count": 4, "at": "p0", "rate": "104Gbps", "latency": "1us"}, {"count": 4, "at": "p1"}],
    "nics": [{"at": "numa0", "rate": "90Gbps", "latency": "10us", "pcie": "100Gbps"}]
  }],
  "network": {"latency": "100us"}
})";

TEST_CASE("bytes from a GPU to the host cross its link, the switch's link and the memory bus") {
  const Cluster cluster = cluster_of(kPcie);
  CHECK(inside(cluster, Memory::gpu(2), Memory::host(0)) == "gpu[0].gpu2.up gpu[0].p0.up gpu[0].numa0.bus");
  CHECK(inside(cluster, Memory::host(0), Memory::gpu(2)) ==
        "gpu[0].numa0.bus gpu[0].p0.down gpu[0].gpu2.down");
  CHECK(cluster.route(kFirst, Memory::gpu(2), Memory::host(0)).latency == 3_us);
}

TEST_CASE("unlimited links are left out of routes but their latency counts") {
  const Cluster cluster = cluster_of(kPcie);
  CHECK(inside(cluster, Memory::gpu(4), Memory::host(1)) == "gpu[0].p1.up");
  CHECK(inside(cluster, Memory::gpu(4), Memory::gpu(5)).empty());
  const Cluster plain = cluster_of(R"({"name": "plain", "groups": [{"name": "gpu",
      "gpus": [{"at": "numa0", "latency": "3us"}],
      "nics": [{"at": "numa0", "rate": "unlimited", "latency": "2us"}],
      "count": 2}]})");
  CHECK(plain.route(kFirst, Memory::gpu(0), Memory::host(0)).latency == 3_us);
  const Route route = plain.route(kFirst, Memory::gpu(0), 0, kSecond, Memory::gpu(0), 0);
  CHECK(route.links.empty());
  CHECK(route.latency == 10_us);
}

TEST_CASE("GPUs under one switch do not cross its link upwards") {
  CHECK(inside(cluster_of(kPcie), Memory::gpu(0), Memory::gpu(3)) == "gpu[0].gpu0.up gpu[0].gpu3.down");
}

TEST_CASE("traffic between devices crosses the peer rate of a switch, traffic to the host does not") {
  const Cluster cluster = cluster_of(kPcie);
  CHECK(inside(cluster, Memory::gpu(0), Memory::gpu(4)) ==
        "gpu[0].gpu0.up gpu[0].p0.up gpu[0].p0.peer.up gpu[0].socket0-1 gpu[0].p1.down");
  CHECK(inside(cluster, Memory::gpu(4), Memory::gpu(0)) ==
        "gpu[0].p1.up gpu[0].socket1-0 gpu[0].p0.down gpu[0].p0.peer.down gpu[0].gpu0.down");
}

TEST_CASE("a socket link has a rate in each direction") {
  const Cluster cluster = cluster_of(kPcie);
  const Route out = cluster.route(kFirst, Memory::host(0), Memory::host(1));
  CHECK(names(cluster, out.links) == "gpu[0].numa0.bus gpu[0].socket0-1");
  CHECK(cluster.link(out.links[1]).rate == 300_Gbps);
  const Route back = cluster.route(kFirst, Memory::host(1), Memory::host(0));
  CHECK(names(cluster, back.links) == "gpu[0].socket1-0 gpu[0].numa0.bus");
  CHECK(cluster.link(back.links[0]).rate == 200_Gbps);
}

TEST_CASE("a copy within one host memory reads and writes over its bus") {
  const Cluster cluster = cluster_of(kPcie);
  CHECK(inside(cluster, Memory::host(0), Memory::host(0)) == "gpu[0].numa0.bus gpu[0].numa0.bus");
  CHECK(inside(cluster, Memory::gpu(0), Memory::gpu(0)).empty());
  CHECK(cluster.route(kFirst, Memory::host(0), Memory::host(0)).latency == 0_us);
}

TEST_CASE("a route between machines goes through both NICs and both memories") {
  const Cluster cluster = cluster_of(kPcie);
  const Route route = cluster.route(kFirst, Memory::host(0), 0, kSecond, Memory::host(0), 0);
  CHECK(names(cluster, route.links) ==
        "gpu[0].numa0.bus gpu[0].nic0.pcie.out gpu[0].nic0.out gpu[1].nic0.in gpu[1].nic0.pcie.in "
        "gpu[1].numa0.bus");
  CHECK(route.latency == 120_us);
}

TEST_CASE("a route from GPU to NIC passes no host memory") {
  const Cluster cluster = cluster_of(kPcie);
  const Route route = cluster.route(kSecond, Memory::gpu(4), 0, kFirst, Memory::host(1), 0);
  CHECK(
      names(cluster, route.links) ==
      "gpu[1].p1.up gpu[1].socket1-0 gpu[1].nic0.pcie.out gpu[1].nic0.out gpu[0].nic0.in gpu[0].nic0.pcie.in "
      "gpu[0].socket0-1");
}

TEST_CASE("the NIC of the NVLink machine shares its switch's link with the GPUs there") {
  const Cluster cluster(shipped_topology("byteps-v100-nvlink"));
  const Route nic = cluster.route(kFirst, Memory::host(0), 0, kSecond, Memory::host(0), 0);
  CHECK(names(cluster, nic.links) ==
        "gpu[0].numa0.bus gpu[0].p0.down gpu[0].nic0.out gpu[1].nic0.in gpu[1].p0.up gpu[1].numa0.bus");
  CHECK(inside(cluster, Memory::gpu(2), Memory::host(0)) == "gpu[0].gpu2.up gpu[0].p1.up gpu[0].numa0.bus");
  CHECK(cluster.machine(kFirst).nics.at(0).numa == 0);
}

TEST_CASE("GPUs take NVLink rather than PCIe because it is wider") {
  const Cluster crossbar(shipped_topology("byteps-v100-nvlink"));
  CHECK(inside(crossbar, Memory::gpu(0), Memory::gpu(1)) == "gpu[0].gpu0.nvlink.out gpu[0].gpu1.nvlink.in");
  CHECK(inside(crossbar, Memory::gpu(0), Memory::gpu(7)) == "gpu[0].gpu0.nvlink.out gpu[0].gpu7.nvlink.in");
}

constexpr const char* kPairs = R"({"name": "pairs", "groups": [{"name": "gpu", "count": 1,
    "gpus": [{"count": 4, "at": "numa0", "rate": "100Gbps"}],
    "nvlink": {"pairs": [{"between": [0, 1], "rate": {"in": "50GB/s", "out": "25GB/s"}},
                         {"between": [1, 2], "rate": "25GB/s"},
                         {"between": [2, 3], "rate": "1GB/s"}]}}]})";

TEST_CASE("NVLink between pairs joins only those pairs, since GPUs forward nothing") {
  const Cluster cluster = cluster_of(kPairs);
  CHECK(inside(cluster, Memory::gpu(0), Memory::gpu(1)) == "gpu[0].nvlink0-1");
  CHECK(inside(cluster, Memory::gpu(1), Memory::gpu(0)) == "gpu[0].nvlink1-0");
  CHECK(cluster.link(cluster.route(kFirst, Memory::gpu(1), Memory::gpu(0)).links[0]).rate == 50_GBps);
  CHECK(inside(cluster, Memory::gpu(0), Memory::gpu(2)) == "gpu[0].gpu0.up gpu[0].gpu2.down");
}

TEST_CASE("a route avoids a direct link that is narrower than a detour") {
  CHECK(inside(cluster_of(kPairs), Memory::gpu(2), Memory::gpu(3)) == "gpu[0].gpu2.up gpu[0].gpu3.down");
}

TEST_CASE(
    "the route with the fewest links is taken among equally wide ones, then the one with the lowest "
    "numbers") {
  // A square of NUMA nodes, 0-1-3 and 0-2-3, and a longer way 0-1-2-3.
  const Cluster cluster = cluster_of(R"({"name": "square", "groups": [{"name": "cpu", "count": 1,
      "numa": [{}, {}, {}, {}],
      "sockets": [{"between": [2, 3], "rate": "10GB/s"}, {"between": [0, 2], "rate": "10GB/s"},
                  {"between": [1, 3], "rate": "10GB/s"}, {"between": [0, 1], "rate": "10GB/s"},
                  {"between": [1, 2], "rate": "10GB/s"}]}]})");
  CHECK(inside(cluster, Memory::host(0), Memory::host(3)) == "cpu[0].socket0-1 cpu[0].socket1-3");
  CHECK(inside(cluster, Memory::host(0), Memory::host(2)) == "cpu[0].socket0-2");
}

TEST_CASE("a wider route is taken even if it is longer") {
  const Cluster cluster = cluster_of(R"({"name": "triangle", "groups": [{"name": "cpu", "count": 1,
      "numa": [{}, {}, {}],
      "sockets": [{"between": [0, 2], "rate": "5GB/s"}, {"between": [0, 1], "rate": "10GB/s"},
                  {"between": [1, 2], "rate": "10GB/s"}]}]})");
  CHECK(inside(cluster, Memory::host(0), Memory::host(2)) == "cpu[0].socket0-1 cpu[0].socket1-2");
}

TEST_CASE("switches may be attached to switches") {
  const Cluster cluster =
      cluster_of(R"({"name": "tree", "groups": [{"name": "gpu", "count": 1, "numa": [{}, {}],
      "sockets": [{"between": [0, 1], "rate": "20GB/s"}],
      "switches": [{"name": "low", "at": "top", "rate": "12GB/s"},
                   {"name": "top", "at": "numa1", "rate": "13GB/s"}],
      "gpus": [{"at": "low", "rate": "11GB/s"}], "nics": [{"at": "low", "rate": "10Gbps"}]}]})");
  CHECK(inside(cluster, Memory::gpu(0), Memory::host(0)) ==
        "gpu[0].gpu0.up gpu[0].low.up gpu[0].top.up gpu[0].socket1-0");
  CHECK(cluster.machine(kFirst).nics.at(0).numa == 1);
}

TEST_CASE("the nearest NICs of a memory are those at the fewest links") {
  const Cluster h200(shipped_topology("h200-nvlink"));
  CHECK(h200.nearest_nics(kFirst, Memory::gpu(5)) == std::vector<int>{5});
  CHECK(h200.nearest_nics(kFirst, Memory::host(0)) == std::vector<int>{0, 1, 2, 3});
  CHECK(h200.nearest_nics(kFirst, Memory::host(1)) == std::vector<int>{4, 5, 6, 7});
  CHECK(h200.machine(kFirst).nics.at(6).numa == 1);
  CHECK(cluster_of(kPairs).nearest_nics(kFirst, Memory::gpu(0)).empty());
}

TEST_CASE("a GPU and the NIC on its switch meet there") {
  const Cluster cluster(shipped_topology("h200-nvlink"));
  const Route route = cluster.route(kFirst, Memory::gpu(5), 5, kSecond, Memory::gpu(5), 5);
  CHECK(names(cluster, route.links) ==
        "gpu[0].gpu5.up gpu[0].nic5.pcie.out gpu[0].nic5.out gpu[1].nic5.in gpu[1].nic5.pcie.in "
        "gpu[1].gpu5.down");
}

TEST_CASE("any memory reaches any other in every direction") {
  for (const char* name : {"byteps-v100-pcie", "byteps-v100-nvlink", "h200-nvlink"}) {
    const Cluster cluster(shipped_topology(name));
    const Machine& machine = cluster.machine(kFirst);
    std::vector<Memory> memories;
    for (std::size_t i = 0; i < machine.numas.size(); ++i)
      memories.push_back(Memory::host(static_cast<int>(i)));
    for (std::size_t i = 0; i < machine.gpus.size(); ++i)
      memories.push_back(Memory::gpu(static_cast<int>(i)));
    for (const Memory from : memories) {
      for (const Memory into : memories) {
        if (from == into) continue;
        CHECK_FALSE(cluster.route(kFirst, from, into).links.empty());
        const Route there = cluster.route(kFirst, from, 0, kSecond, into, 0);
        const Route back = cluster.route(kSecond, into, 0, kFirst, from, 0);
        CHECK(there.latency == back.latency);
        CHECK(there.links.size() == back.links.size());
      }
    }
  }
}

TEST_CASE("200 machines of 8 GPUs are expanded and routed without delay") {
  Topology topology = shipped_topology("byteps-v100-nvlink");
  for (GroupSpec& group : topology.groups) group.count = 100;
  const auto begin = std::chrono::steady_clock::now();
  const Cluster cluster(topology);
  std::size_t links = 0;
  for (std::size_t from = 0; from < 200; ++from) {
    for (std::size_t into = 0; into < 200; ++into) {
      if (from == into) continue;
      const Route route =
          cluster.route(MachineId(from), Memory::host(0), 0, MachineId(into), Memory::host(0), 0);
      links += route.links.size();
    }
  }
  CHECK(links > 39'800UL * 4);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

}  // namespace
}  // namespace weir
