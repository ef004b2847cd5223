#include "core/cluster/link_values.h"

#include <filesystem>

#include "core/base/units_text.h"
#include "core/cluster/subcluster.h"
#include "core/cluster/topology_file.h"
#include "tests/catch.h"

namespace weir {
namespace {

// Whether the value at the path is the link's rate, in either direction.
bool has_rate(const Value& written, const std::string& path, BytesPerSecond rate) {
  const Value* value = value_at(written, path);
  if (value == nullptr) return false;
  if (value->is(Value::Kind::kString)) return parse_rate(value->as_string()).value() == rate;
  for (const Value::Member& way : value->members()) {
    if (parse_rate(way.value.as_string()).value() == rate) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("every link of every shipped topology has the rate of the value that link_values names") {
  int links = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(WEIR_SOURCE_DIR) + "/topologies")) {
    if (entry.path().extension() != ".json") continue;
    INFO(entry.path().string());
    const auto topology = read_topology(entry.path().string());
    REQUIRE(topology);
    const Cluster cluster(*topology);
    const Value written = written_values(*topology);
    const std::vector<LinkValues> values = link_values(*topology, cluster);
    REQUIRE(values.size() == cluster.links().size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Link& link = cluster.links()[i];
      INFO(link.name << " " << values[i].rate);
      if (values[i].rate == "network.racks.oversubscription") continue;
      CHECK(has_rate(written, values[i].rate, link.rate));
      CHECK(values[i].latency.empty() == (link.latency == Duration(0)));
      if (!values[i].latency.empty())
        CHECK(parse_duration(value_at(written, values[i].latency)->as_string()).value() == link.latency);
      ++links;
    }
    // In a subcluster the links have their rates from the same values.
    std::vector<MachineId> some;
    for (std::size_t i = 1; i < cluster.machines().size(); i += 2) some.emplace_back(i);
    if (some.empty()) continue;
    const Subcluster part(cluster, some);
    const std::vector<LinkValues> own = link_values(*topology, part.cluster);
    REQUIRE(own.size() == part.links.size());
    for (std::size_t i = 0; i < own.size(); ++i) CHECK(own[i].rate == values[part.links[i].index()].rate);
  }
  CHECK(links > 500);
}

TEST_CASE("a topology with another value differs in that value only") {
  const std::string file = std::string(WEIR_SOURCE_DIR) + "/topologies/gpu-lab-4.json";
  const Topology before = read_topology(file).value();
  Topology after = with_value(before, "groups.cpu.nics.0.rate", Value("9Gbps")).value();
  CHECK(after.groups[1].nics[0].rate.out == BytesPerSecond(1'125'000'000));
  after.groups[1].nics[0].rate = before.groups[1].nics[0].rate;
  CHECK(after == before);
  // A rate for one element type does not change the rate of the others.
  const Topology sums = with_value(before, "groups.cpu.numa.0.sum_rate.f16", Value("4GB/s")).value();
  CHECK(sums.groups[1].numa[0].sum_rate.of(Dtype::kF16) == BytesPerSecond(4'000'000'000));
  CHECK(sums.groups[1].numa[0].sum_rate.of(Dtype::kF32) == BytesPerSecond(9'000'000'000));
  CHECK(!with_value(before, "groups.cpu.nics.7.rate", Value("9Gbps")));
  CHECK(!with_value(before, "groups.cpu.nics.0.rate", Value("9us")));
}

TEST_CASE("the shape of machines depends neither on their values nor on their number") {
  const Topology before = read_topology(std::string(WEIR_SOURCE_DIR) + "/topologies/gpu-lab-4.json").value();
  GroupSpec group = before.groups[0];
  group.count = 17;
  group.nics[0].rate.in = BytesPerSecond(1'000'000);
  group.numa[0].cores = 3;
  CHECK(shape(group) == shape(before.groups[0]));
  group.gpus[0].count = 2;
  CHECK(shape(group) != shape(before.groups[0]));
  group = before.groups[0];
  group.nvlink.reset();
  CHECK(shape(group) != shape(before.groups[0]));
}

}  // namespace weir
