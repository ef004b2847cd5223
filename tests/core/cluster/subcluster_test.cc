#include "core/cluster/subcluster.h"

#include "core/cluster/topology.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

// Three racks of a GPU machine, a CPU machine and another GPU machine each.
Cluster whole() {
  return cluster_of(R"({"name": "whole", "groups": [
    {"name": "a", "count": 3, "numa": [{"memory_rate": "90GB/s", "sum_rate": "30GB/s"}],
     "gpus": [{"at": "numa0", "rate": "12GB/s"}], "nics": [{"at": "numa0", "rate": "8GB/s"}]},
    {"name": "c", "count": 3, "numa": [{"memory_rate": "90GB/s"}], "nics": [{"at": "numa0", "rate": "9GB/s"}]},
    {"name": "b", "count": 3, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "7GB/s"}]}],
    "network": {"racks": {"size": 3, "oversubscription": 2, "placement": "spread"}}})");
}

std::vector<std::string> machine_names(const Cluster& cluster) {
  std::vector<std::string> names;
  for (const Machine& machine : cluster.machines()) names.push_back(machine.name);
  return names;
}

TEST_CASE("machines of a subcluster keep their names and their routes over the same links") {
  const Cluster all = whole();
  const Subcluster some(all, machines_named({"c[1]", "b[*]", "a[2]", "c[1]"}, all));
  const Cluster& own = some.cluster;
  CHECK(machine_names(own) == std::vector<std::string>{"a[2]", "c[1]", "b[0]", "b[1]", "b[2]"});
  CHECK(own.gpu_machines() == std::vector<MachineId>{MachineId(0), MachineId(2), MachineId(3), MachineId(4)});
  CHECK(own.cpu_machines() == std::vector<MachineId>{MachineId(1)});
  REQUIRE(some.links.size() == own.links().size());
  for (std::size_t i = 0; i < some.links.size(); ++i) {
    const Link& link = all.link(some.links[i]);
    CHECK(own.links()[i].name == link.name);
    CHECK(own.links()[i].rate == link.rate);
    if (link.machine.valid()) CHECK(some.machines[own.links()[i].machine.index()] == link.machine);
  }
  const auto whole_id = [&](std::size_t machine) { return some.machines[machine]; };
  for (std::size_t from = 0; from < own.machines().size(); ++from) {
    for (std::size_t into = 0; into < own.machines().size(); ++into) {
      const Memory host = Memory::host(0);
      const Route here = own.route(MachineId(from), host, 0, MachineId(into), host, 0);
      const Route there = all.route(whole_id(from), host, 0, whole_id(into), host, 0);
      CHECK(names(own, here.links) == names(all, there.links));
      CHECK(here.latency == there.latency);
    }
  }
  CHECK(own.link(own.machine(MachineId(0)).numas[0].bus).name == "a[2].numa0.bus");
}

TEST_CASE("a subcluster of all machines equals the cluster") {
  const Cluster all = whole();
  CHECK(Subcluster(all).cluster == all);
}

TEST_CASE("machines are interchangeable in a subcluster if their racks there hold equally many machines") {
  const Cluster all = whole();
  const Subcluster some(all, machines_named(std::vector<std::string>{"a[*]", "c[1]"}, all));
  const auto kind = [&](std::size_t machine) { return some.cluster.machine_class(MachineId(machine)); };
  CHECK(kind(0) == kind(2));
  CHECK(kind(0) != kind(1));  // 1 shares its rack with the CPU machine
  CHECK(kind(3) != kind(1));
}

TEST_CASE("a pattern with stars names everything that matches") {
  const Cluster all = whole();
  CHECK(machines_named("*[1]", all) == std::vector<MachineId>{MachineId(1), MachineId(4), MachineId(7)});
  CHECK(machines_named("a", all).empty());
  CHECK(names(all, links_named("rack[*].up", all)) == "rack[0].up rack[1].up rack[2].up");
}

}  // namespace
}  // namespace weir
