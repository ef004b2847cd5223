#include "core/cluster/topology_file.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/cluster/cluster.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

std::vector<std::string> shipped() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(WEIR_SOURCE_DIR) + "/topologies")) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("every shipped topology is valid, has the name of its file and says where its numbers come from") {
  REQUIRE(shipped().size() >= 8);
  for (const std::string& name : shipped()) {
    INFO(name);
    const Topology topology = shipped_topology(name);
    CHECK(topology.name == name);
    CHECK_FALSE(topology.source.empty());
    CHECK(Cluster(topology).machines().size() >= 2);
  }
}

TEST_CASE("a topology is written in full and reads back as an equal one") {
  for (const std::string& name : shipped()) {
    INFO(name);
    const Topology topology = shipped_topology(name);
    CHECK(topology_of(write_topology(topology).dump()) == topology);
  }
}

TEST_CASE("a written topology has every default") {
  const Topology topology = topology_of(R"({"name": "lab", "groups": [{"name": "gpu",
      "nics": [{"at": "numa0", "rate": {"in": "90Gbps", "out": "88Gbps"}}]}]})");
  CHECK(
      write_topology(topology).dump() ==
      R"({"name":"lab","source":"","groups":[{"name":"gpu","count":1,"numa":[{"memory":"0B",)"
      R"("memory_rate":"unlimited","sum_rate":"unlimited",)"
      R"("sum_rate_per_thread":"unlimited","sum_threads":0,"cores":0}],"sockets":[],"switches":[],"gpus":[],)"
      R"("nics":[{"count":1,"at":"numa0","rate":{"in":"90Gbps","out":"88Gbps"},"latency":"0s",)"
      R"("pcie":"unlimited"}]}],"network":{"latency":"0s"}})");
}

TEST_CASE("sum rates are read for all types together or for each") {
  const Topology topology =
      topology_of(R"({"name": "lab", "groups": [{"name": "a", "numa": [{"sum_rate": "10GB/s"},
      {"sum_rate": {"f16": "218.7Gbps", "f32": "276Gbps"}}], "sockets": [{"between": [0, 1]}]}]})");
  CHECK(topology.groups[0].numa[0].sum_rate.of(Dtype::kI64) == 10_GBps);
  CHECK(topology.groups[0].numa[1].sum_rate.of(Dtype::kF32) == 276_Gbps);
  CHECK_FALSE(topology.groups[0].numa[1].sum_rate.of(Dtype::kF64).limited());
}

TEST_CASE("the rates of threads add up, but not beyond sum_rate") {
  const auto numa = [](int threads) {
    const Cluster cluster(
        topology_of(R"({"name": "lab", "groups": [{"name": "a", "numa": [{"sum_rate": {"f32": "10GB/s"},
        "sum_rate_per_thread": {"f32": "3GB/s", "f16": "2GB/s"}, "sum_threads": )" +
                    std::to_string(threads) + "}]}]}"));
    return cluster.machine(MachineId(0)).numas[0];
  };
  CHECK(numa(0).sum_rate.of(Dtype::kF32) == 10_GBps);
  CHECK(numa(2).sum_rate.of(Dtype::kF32) == 6_GBps);
  CHECK(numa(4).sum_rate.of(Dtype::kF32) == 10_GBps);
  CHECK_FALSE(numa(0).sum_rate.of(Dtype::kF16).limited());
  CHECK(numa(4).sum_rate.of(Dtype::kF16) == 8_GBps);
  CHECK_FALSE(numa(4).sum_rate.of(Dtype::kI64).limited());
  CHECK(numa(4).sums.size() == 2);  // a link for each rate
  CHECK_FALSE(numa(4).sum_link(Dtype::kI64).valid());
}

TEST_CASE("the example in the README is right") {
  const std::string readme = read_text(std::string(WEIR_SOURCE_DIR) + "/topologies/README.md").value();
  const std::string fence = "```\n";
  const std::size_t begin = readme.find(fence) + fence.size();
  const Topology topology = topology_of(readme.substr(begin, readme.find(fence, begin) - begin));
  CHECK(topology.name == "lab");
  CHECK(Cluster(topology).machines().size() == 12);
}

TEST_CASE("the groups that sweeps change are called gpu and cpu") {
  for (const std::string& name : shipped()) {
    if (name == "mixed-rates") continue;
    INFO(name);
    const Topology topology = shipped_topology(name);
    REQUIRE(topology.groups.size() == 2);
    CHECK(topology.groups[0].name == "gpu");
    CHECK(topology.groups[1].name == "cpu");
  }
}

TEST_CASE("the committed schema is the one that the program writes") {
  // build/.../weir check --schema topology > schemas/topology.schema.json
  CHECK(read_text(std::string(WEIR_SOURCE_DIR) + "/schemas/topology.schema.json").value() ==
        topology_schema());
}

}  // namespace
}  // namespace weir
