#include "core/cluster/cluster.h"

#include "core/cluster/topology_file.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

// Two one-GPU machines and three CPU machines with slower NICs.
constexpr const char* kFive = R"({
  "name": "five",
  "groups": [
    {"name": "gpu", "count": 2, "gpus": [{"at": "numa0", "rate": "100Gbps", "memory": "32GiB", "speed": 2}],
     "nics": [{"at": "numa0", "rate": "90Gbps"}]},
    {"name": "none", "count": 0},
    {"name": "cpu", "count": 3, "nics": [{"at": "numa0", "rate": {"in": "40Gbps", "out": "50Gbps"}}],
     "numa": [{"memory": "64GiB", "cores": 16, "sum_rate": {"f32": "20GB/s", "other": "10GB/s"}}]}
  ]
})";

TEST_CASE("machines are numbered group by group and named after their group") {
  const Cluster cluster = cluster_of(kFive);
  REQUIRE(cluster.machines().size() == 5);
  CHECK(cluster.name() == "five");
  CHECK(cluster.machine(MachineId(1)).name == "gpu[1]");
  CHECK(cluster.machine(MachineId(2)).name == "cpu[0]");
  CHECK(cluster.machine(MachineId(4)).group == "cpu");
  CHECK(cluster.gpu_machines() == std::vector<MachineId>{MachineId(0), MachineId(1)});
  CHECK(cluster.cpu_machines() == std::vector<MachineId>{MachineId(2), MachineId(3), MachineId(4)});
}

TEST_CASE("devices have the values of the topology") {
  const Cluster cluster = cluster_of(kFive);
  const Machine& gpu = cluster.machine(MachineId(0));
  const Machine& cpu = cluster.machine(MachineId(3));
  CHECK(gpu.gpus.at(0).name == "gpu0");
  CHECK(gpu.gpus.at(0).memory == 32768_MiB);
  CHECK(gpu.gpus.at(0).speed == 2.0);
  CHECK_FALSE(gpu.gpus.at(0).sum_rate.limited());
  CHECK_FALSE(gpu.numas.at(0).sum_rate.of(Dtype::kF32).limited());
  CHECK(cpu.numas.at(0).cores == 16);
  CHECK(cpu.numas.at(0).sum_rate.of(Dtype::kF32) == 20_GBps);
  CHECK(cpu.numas.at(0).sum_rate.of(Dtype::kF16) == 10_GBps);
}

TEST_CASE("each machine has its own links") {
  const Cluster cluster = cluster_of(kFive);
  const Nic& nic = cluster.machine(MachineId(3)).nics.at(0);
  CHECK(cluster.link(nic.out).name == "cpu[1].nic0.out");
  CHECK(cluster.link(nic.out).rate == 50_Gbps);
  CHECK(cluster.link(nic.out).machine == MachineId(3));
  CHECK(cluster.link(nic.in).name == "cpu[1].nic0.in");
  CHECK(cluster.link(nic.in).rate == 40_Gbps);
  CHECK(names(cluster, cluster.route(MachineId(1), Memory::gpu(0), Memory::host(0)).links) ==
        "gpu[1].gpu0.up");
}

TEST_CASE("clusters are equal if their topologies are") {
  CHECK(cluster_of(kFive) == cluster_of(kFive));
  Topology slower = topology_of(kFive);
  slower.groups[0].nics[0].rate.in = 1_Gbps;
  CHECK_FALSE(Cluster(slower) == cluster_of(kFive));
}

// Sixteen machines: eight "a" and eight "b", with one NIC of 10 Gbps each, in racks.
Cluster racked(const std::string& racks) {
  return cluster_of(R"({"name": "racked", "network": {"latency": "5us", "racks": )" + racks +
                    R"(}, "groups": [
    {"name": "a", "count": 8, "nics": [{"at": "numa0", "rate": "10Gbps"}]},
    {"name": "b", "count": 8, "nics": [{"at": "numa0", "rate": {"in": "20Gbps", "out": "10Gbps"}}]}]})");
}

const Link& link_named(const Cluster& cluster, const std::string& name) {
  for (const Link& link : cluster.links()) {
    if (link.name == name) return link;
  }
  FAIL("no link " << name);
  return cluster.links().front();
}

TEST_CASE("packed racks are filled one after the other, spread ones in turn") {
  const Cluster packed = racked(R"({"size": 6, "oversubscription": 2})");
  CHECK(packed.machine(MachineId(5)).rack == 0);
  CHECK(packed.machine(MachineId(6)).rack == 1);
  CHECK(packed.machine(MachineId(15)).rack == 2);
  const Cluster spread = racked(R"({"size": 6, "oversubscription": 2, "placement": "spread"})");
  CHECK(spread.machine(MachineId(5)).rack == 2);
  CHECK(spread.machine(MachineId(6)).rack == 0);
}

TEST_CASE("a rack's uplink has the rate of its NICs over the oversubscription") {
  const Cluster cluster = racked(R"({"size": 8, "oversubscription": 4.0})");
  CHECK(link_named(cluster, "rack[0].up").rate == 20_Gbps);
  CHECK(link_named(cluster, "rack[1].up").rate == 20_Gbps);
  CHECK(link_named(cluster, "rack[1].down").rate == 40_Gbps);
  CHECK(link_named(cluster, "rack[1].down").kind == Link::Kind::kRack);
  CHECK_FALSE(link_named(cluster, "rack[1].down").machine.valid());
}

TEST_CASE("a rack's uplink has the given rate") {
  const Cluster cluster = racked(R"({"size": 8, "uplink": {"in": "30Gbps", "out": "unlimited"}})");
  CHECK(link_named(cluster, "rack[0].down").rate == 30_Gbps);
  const Route route = cluster.route(MachineId(0), Memory::host(0), 0, MachineId(8), Memory::host(0), 0);
  CHECK(names(cluster, route.links) == "a[0].nic0.out rack[1].down b[0].nic0.in");
}

TEST_CASE("only bytes between racks cross uplinks") {
  const Cluster cluster = racked(R"({"size": 8, "oversubscription": 4, "latency": "1us"})");
  const Route inside = cluster.route(MachineId(0), Memory::host(0), 0, MachineId(7), Memory::host(0), 0);
  CHECK(names(cluster, inside.links) == "a[0].nic0.out a[7].nic0.in");
  CHECK(inside.latency == 5_us);
  const Route across = cluster.route(MachineId(8), Memory::host(0), 0, MachineId(7), Memory::host(0), 0);
  CHECK(names(cluster, across.links) == "b[0].nic0.out rack[1].up rack[0].down a[7].nic0.in");
  CHECK(across.latency == 7_us);
}

TEST_CASE("without racks machines of one group are one class") {
  const Cluster cluster = cluster_of(kFive);
  CHECK(cluster.machine_class(MachineId(0)) == 0);
  CHECK(cluster.machine_class(MachineId(1)) == 0);
  CHECK(cluster.machine_class(MachineId(2)) == 1);
  CHECK(cluster.machine_class(MachineId(4)) == 1);
}

TEST_CASE("machines in unlike racks are of different classes") {
  // Racks: 6 a; 2 a and 4 b; 4 b.
  const Cluster unlike = racked(R"({"size": 6, "oversubscription": 2})");
  CHECK(unlike.machine_class(MachineId(0)) == 0);
  CHECK(unlike.machine_class(MachineId(6)) == 1);
  CHECK(unlike.machine_class(MachineId(8)) == 2);
  CHECK(unlike.machine_class(MachineId(12)) == 3);
  // Two racks of four a, two of four b.
  const Cluster alike = racked(R"({"size": 4, "oversubscription": 2})");
  CHECK(alike.machine_class(MachineId(0)) == alike.machine_class(MachineId(4)));
  CHECK(alike.machine_class(MachineId(8)) == alike.machine_class(MachineId(15)));
  CHECK(alike.machine_class(MachineId(8)) == 1);
  // Four racks of two a and two b each.
  const Cluster spread = racked(R"({"size": 4, "oversubscription": 2, "placement": "spread"})");
  CHECK(spread.machine_class(MachineId(0)) == spread.machine_class(MachineId(7)));
}

}  // namespace
}  // namespace weir
