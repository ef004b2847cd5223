#include "core/formats/graphviz.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

bool shows(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("a graph shows each device once, with its rates on the edges") {
  const std::string text = topology_graphviz(shipped_topology("byteps-v100-pcie"));
  CHECK(shows(text, "label=\"8 x gpu\""));
  CHECK(shows(text, "\"gpu.numa0\" [label=\"numa0, memory 1.024 Tbps\""));
  CHECK(shows(text, "\"gpu.numa0\" -- \"gpu.numa1\" [label=\"300 Gbps\""));
  CHECK(shows(text, "\"gpu.numa1\" -- \"gpu.p1\" [label=\"105 Gbps\\npeers 80 Gbps\"]"));
  CHECK(shows(text, "\"gpu.p1\" -- \"gpu.gpu7\" [label=\"105 Gbps\"]"));
  CHECK(shows(text, "network [label=\"network, 5 us\""));
  CHECK(shows(text, "\"cpu.nic0\" -- network [label=\"90 Gbps\"]"));
}

TEST_CASE("a graph shows rates that differ by direction, NVSwitches and racks, but no absent groups") {
  const std::string h200 = topology_graphviz(shipped_topology("h200-nvlink"));
  CHECK(shows(h200, "\"gpu.p3\" -- \"gpu.gpu3\" [label=\"in 444 Gbps\\nout 443.2 Gbps\"]"));
  CHECK(shows(h200, "\"gpu.gpu7\" -- \"gpu.nvswitch\" [label=\"3.6 Tbps\""));
  CHECK(shows(topology_graphviz(shipped_topology("racks-oversubscribed")),
              "racks of 8, oversubscribed 4 times"));
  Topology few = shipped_topology("toy-two-machines");
  few.groups.push_back({.name = "none", .count = 0});
  CHECK_FALSE(shows(topology_graphviz(few), "none"));
}

TEST_CASE("every end of an edge is a node of the graph, whatever groups are called") {
  Topology topology = shipped_topology("byteps-v100-nvlink");
  topology.groups[0].name = "a \"b\" \\ {c}";
  topology.groups[0].nvlink = NvlinkSpec{{}, {NvlinkPairSpec{{0, 7}, {}, {}}}};
  std::istringstream lines(topology_graphviz(topology));
  std::set<std::string> nodes;
  std::set<std::string> ends;
  int open = 0;
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (!line.empty() && line.back() == '{') ++open;
    if (line == "}") --open;
    const std::size_t label = line.find(" [label=");
    if (label == std::string::npos) continue;
    const std::string name = line.substr(0, label);
    if (const std::size_t edge = name.find(" -- "); edge != std::string::npos) {
      ends.insert(name.substr(0, edge));
      ends.insert(name.substr(edge + 4));
    } else {
      CHECK(nodes.insert(name).second);
    }
  }
  CHECK(open == 0);
  CHECK(nodes.count(R"("a \"b\" \\ {c}.gpu7")") == 1);
  CHECK(std::includes(nodes.begin(), nodes.end(), ends.begin(), ends.end()));
}

}  // namespace
}  // namespace weir
