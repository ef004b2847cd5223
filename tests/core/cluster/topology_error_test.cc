// Broken topology files, and the complete error for each.
#include "core/cluster/topology_file.h"
#include "tests/catch.h"

namespace weir {
namespace {

std::string error(const std::string& text) {
  const auto document = parse_document(text, "lab.json");
  if (!document) return document.error().text;
  const auto topology = read_topology(*document);
  return topology ? "no error" : topology.error().text;
}

/// The error of a topology of one machine whose group has these lines, from line 3 on.
std::string group_error(const std::string& lines) {
  return error("{\"name\": \"lab\", \"groups\": [\n{\"name\": \"gpu\",\n" + lines + "}]}");
}

TEST_CASE("the error for a rate without a unit suggests one") {
  CHECK(group_error("\"nics\": [\n{\"at\": \"numa0\",\n\"rate\": \"100Gb\"}]") ==
        "lab.json:5: groups[0].nics[0].rate: '100Gb' is not a rate; try 100Gbps");
  CHECK(group_error("\"nics\": [{\"at\": \"numa0\",\n\"rate\": {\"in\": \"1Gbps\"}}]") ==
        "lab.json:4: groups[0].nics[0].rate: 'out' is missing: the rate out of the device that has the link");
  CHECK(group_error("\"numa\": [{\"sum_rate\": {\"fp32\": \"1GB/s\"}}]") ==
        "lab.json:3: groups[0].numa[0].sum_rate: unknown key 'fp32'; did you mean 'f32'?");
}

TEST_CASE("a number of threads needs the rate of one thread") {
  CHECK(group_error("\"numa\": [\n{\"sum_rate\": \"1GB/s\", \"sum_threads\": 4}]") ==
        "lab.json:4: groups[0].numa[0].sum_threads: has no effect without sum_rate_per_thread; add that, "
        "or remove this");
}

TEST_CASE("a port of an RDMA device belongs to one NIC") {
  CHECK(group_error("\"nics\": [{\"at\": \"numa0\", \"rate\": \"1Gbps\", \"count\": 2,\n"
                    "\"rdma\": {\"device\": \"mlx5_0\"}}]") ==
        "lab.json:4: groups[0].nics[0].rdma: a port belongs to one NIC, but 'count' is above 1; list the "
        "NICs one by one");
  CHECK(group_error("\"nics\": [{\"at\": \"numa0\", \"rate\": \"1Gbps\", \"rdma\": {\"device\": \"\"}}]")
            .find("'' is not a name") != std::string::npos);
}

TEST_CASE("the error for an unknown key suggests the nearest known one") {
  CHECK(group_error("\"gpu\": []") == "lab.json:3: groups[0]: unknown key 'gpu'; did you mean 'gpus'?");
  CHECK(error("{\"name\": \"lab\", \"groups\": [{\"name\": \"a\"}],\n\"netwrok\": {}}") ==
        "lab.json:2: unknown key 'netwrok'; did you mean 'network'?");
}

TEST_CASE("a count below zero is an error, but zero is allowed") {
  CHECK(group_error("\"count\":\n-1") == "lab.json:4: groups[0].count: -1 is too small; at least 0");
  CHECK(group_error("\"count\": 200000") == "lab.json:3: groups[0].count: 200000 is too large; at most 4096");
  CHECK(error(R"({"name": "lab", "groups": [{"name": "gpu", "count": 1}, {"name": "cpu", "count": 0}]})") ==
        "no error");
}

TEST_CASE("a topology has at least one machine") {
  CHECK(error("{\"name\": \"lab\",\n\"groups\": []}") ==
        "lab.json:2: groups: there is no machine; give a group a count above 0");
  CHECK(group_error("\"count\": 0") ==
        "lab.json:1: groups: there is no machine; give a group a count above 0");
}

TEST_CASE("groups have unique names") {
  CHECK(error("{\"name\": \"lab\", \"groups\": [{\"name\": \"a\", \"count\": 1},\n{\"name\": \"a\", "
              "\"count\": 0}]}") == "lab.json:2: groups[1].name: two groups are called 'a'; rename one");
}

TEST_CASE("prices have one currency, up to a million an hour, and may be left out") {
  const auto prices = [](const std::string& first, const std::string& second) {
    return error("{\"name\": \"lab\", \"groups\": [{\"name\": \"gpu\", \"count\": 1, \"price\": " + first +
                 "},\n{\"name\": \"cpu\", \"count\": 0, \"price\": " + second + "}]}");
  };
  CHECK(prices("\"$25/h\"", "\"$4.20/h\"") == "no error");
  CHECK(prices("\"$25/h\"", "null") == "no error");
  CHECK(prices("\"$25/h\"", "\"EUR 4/h\"") ==
        "lab.json:2: groups[1].price: EUR 4/h is in another currency than the $25/h of 'gpu'; convert one");
  CHECK(prices("\"1000001/h\"", "null") ==
        "lab.json:1: groups[0].price: 1000001/h is too large; at most 1000000/h");
  CHECK(prices("\"$25\"", "null") == "lab.json:1: groups[0].price: '$25' is not a price; try $25/h");
}

TEST_CASE("names that appear in paths consist of letters, digits, '_' and '-'") {
  for (const char* name : {"", "a.b", "gpu[0]", "0", "two words", "a,b", "a\\nb", "\\\"", "caf\u00e9"}) {
    INFO(name);
    CHECK(error(fmt::format(R"({{"name": "lab", "groups": [{{"name": "{}"}}]}})", name))
              .find("is not a name") != std::string::npos);
    CHECK(group_error(fmt::format(R"("switches": [{{"name": "{}", "at": "numa0"}}])", name))
              .find("lab.json:3: groups[0].switches[0].name: ") == 0);
  }
  CHECK(error(R"({"name": "lab", "groups": [{"name": "V100_pcie-2"}]})") == "no error");
}

TEST_CASE("the name of a topology fits on one line") {
  CHECK(error(R"({"name": "a\nb", "groups": [{"name": "gpu"}]})") ==
        "lab.json:1: name: 'a?b' is not a name; try 1 to 200 bytes of text without control characters");
  CHECK(error(R"({"name": "the \"lab\", $5 a day; caf\u00e9", "groups": [{"name": "gpu"}]})") == "no error");
}

TEST_CASE("rates, latencies, memories and counts have limits") {
  const auto nic = [](const char* more) {
    return group_error(fmt::format(R"("nics": [{{"at": "numa0", {}}}])", more));
  };
  CHECK(nic(R"("rate": "8bps")") == "lab.json:3: groups[0].nics[0].rate: 8bps is too small; at least 1Mbps");
  CHECK(nic(R"("rate": {"in": "2PB/s", "out": "1Gbps"})").find("is not a rate") != std::string::npos);
  CHECK(nic(R"("rate": {"in": "2000TB/s", "out": "1Gbps"})") ==
        "lab.json:3: groups[0].nics[0].rate.in: 2000TB/s is too large; at most 8000Tbps");
  CHECK(nic(R"("rate": "unlimited")") == "no error");
  CHECK(nic(R"("rate": "1Gbps", "latency": "2s")") ==
        "lab.json:3: groups[0].nics[0].latency: 2s is too large; at most 1s");
  CHECK(group_error(R"("numa": [{"memory": "2000TB"}])") ==
        "lab.json:3: groups[0].numa[0].memory: 2000TB is too large; at most 1000TB");
  CHECK(group_error(R"("gpus": [{"at": "numa0", "speed": 1e-300}])") ==
        "lab.json:3: groups[0].gpus[0].speed: 1e-300 is too small; at least 0.001");
  std::string gpus = R"({"at": "numa0", "count": 128})";
  for (int i = 1; i < 5; ++i) gpus += R"(, {"at": "numa0", "count": 128})";
  CHECK(group_error("\"gpus\": [" + gpus + "]") ==
        "lab.json:3: groups[0].gpus: 640 in one machine are too many; at most 512");
  std::string groups;
  for (int i = 0; i < 5; ++i) {
    groups += fmt::format(
        R"({}{{"name": "g{}", "count": 4096, "nics": [{{"at": "numa0", "rate": "1Gbps", "count": 10}}]}})",
        i > 0 ? "," : "", i);
  }
  CHECK(error("{\"name\": \"lab\", \"groups\": [" + groups + "]}") ==
        "lab.json:1: groups: there are 20480 machines; at most 16384\n"
        "lab.json:1: groups: the machines have 204800 GPUs and NICs; at most 200000");
}

TEST_CASE("each of several machines needs a NIC") {
  CHECK(error("{\"name\": \"lab\", \"groups\": [\n{\"name\": \"a\", \"count\": 2}]}") ==
        "lab.json:2: groups[0]: each of several machines needs a NIC; add one to 'nics'");
  CHECK(
      error(R"({"name": "lab", "groups": [{"name": "a", "count": 2, "nics": [{"at": "numa0", "rate": "1Gbps",
                  "count": 0}]}]})") ==
      "lab.json:1: groups[0]: each of several machines needs a NIC; add one to 'nics'");
  CHECK(group_error("\"count\": 1") == "no error");
}

TEST_CASE("the place that a device is attached to must exist") {
  CHECK(group_error("\"switches\": [{\"name\": \"p0\", \"at\": \"numa0\"}],\n\"gpus\": [{\"at\": "
                    "\"p0\"},\n{\"at\": \"p1\"}]") ==
        "lab.json:5: groups[0].gpus[1].at: there is no 'p1' in group 'gpu'; there are 'numa0', 'p0'");
  CHECK(group_error("\"nics\": [{\"at\": \"numa1\", \"rate\": \"1Gbps\"}]") ==
        "lab.json:3: groups[0].nics[0].at: there is no 'numa1' in group 'gpu'; there are 'numa0'");
  CHECK(group_error("\"switches\": [{\"name\": \"p0\", \"at\": \"cpu\"}]") ==
        "lab.json:3: groups[0].switches[0].at: there is no 'cpu' in group 'gpu'; there are 'numa0', 'p0'");
}

TEST_CASE("switches must not form a cycle") {
  CHECK(group_error("\"switches\": [{\"name\": \"a\", \"at\": \"b\"},\n{\"name\": \"b\", \"at\": \"a\"},\n"
                    "{\"name\": \"c\", \"at\": \"numa0\"}]") ==
        "lab.json:3: groups[0].switches[0].at: the switches above 'a' form a cycle; attach one to a NUMA "
        "node\n"
        "lab.json:4: groups[0].switches[1].at: the switches above 'b' form a cycle; attach one to a NUMA "
        "node");
}

TEST_CASE("switches have unique names, different from those of NUMA nodes") {
  CHECK(group_error(
            "\"switches\": [{\"name\": \"p\", \"at\": \"numa0\"},\n{\"name\": \"p\", \"at\": \"numa0\"}]") ==
        "lab.json:4: groups[0].switches[1].name: two switches are called 'p'; rename one");
  CHECK(group_error("\"switches\": [{\"name\": \"numa3\", \"at\": \"numa0\"}]") ==
        "lab.json:3: groups[0].switches[0].name: 'numa3' cannot name a switch; try 'p0'");
}

TEST_CASE("socket links join existing NUMA nodes, each pair once") {
  CHECK(group_error("\"numa\": [{}, {}],\n\"sockets\": [{\"between\": [0, 2]}]") ==
        "lab.json:4: groups[0].sockets[0].between: expected the numbers of two different NUMA nodes, 0 to 1");
  CHECK(group_error("\"numa\": [{}, {}],\n\"sockets\": [{\"between\": [1, 1]}]") ==
        "lab.json:4: groups[0].sockets[0].between: expected the numbers of two different NUMA nodes, 0 to 1");
  CHECK(
      group_error("\"sockets\": [{\"between\": [0, 1]}]") ==
      "lab.json:3: groups[0].sockets[0].between: a link needs two NUMA nodes, but the machine has 1; remove "
      "it or add NUMA nodes");
  CHECK(group_error("\"numa\": [{}, {}],\n\"sockets\": [{\"between\": [0, 1]},\n{\"between\": [1, 0]}]") ==
        "lab.json:5: groups[0].sockets[1].between: NUMA nodes 0 and 1 are already joined; give one link with "
        "the sum of "
        "the rates");
}

TEST_CASE("every NUMA node is reachable") {
  CHECK(group_error("\"numa\": [{}, {}, {}],\n\"sockets\": [{\"between\": [0, 1]}]") ==
        "lab.json:4: groups[0].sockets: nothing joins numa0 and numa2; add {\"between\": [0, 2]}");
  CHECK(group_error("\"numa\": [{}, {}]") ==
        "lab.json:2: groups[0].sockets: nothing joins numa0 and numa1; add {\"between\": [0, 1]}");
  CHECK(group_error("\"numa\": []") ==
        "lab.json:3: groups[0].numa: a machine needs at least one NUMA node; remove 'numa' to get a default "
        "one");
}

TEST_CASE("NVLink is a switch or pairs, and pairs join existing GPUs") {
  CHECK(group_error("\"gpus\": [{\"count\": 2, \"at\": \"numa0\"}],\n\"nvlink\": {}") ==
        "lab.json:4: groups[0].nvlink: expected either 'switch' or 'pairs'");
  CHECK(
      group_error(
          "\"gpus\": [{\"count\": 2, \"at\": \"numa0\"}],\n\"nvlink\": {\"switch\": {\"rate\": \"1GB/s\"},\n"
          "\"pairs\": [{\"between\": [0, 2], \"rate\": \"1GB/s\"}]}") ==
      "lab.json:4: groups[0].nvlink: expected either 'switch' or 'pairs'\n"
      "lab.json:5: groups[0].nvlink.pairs[0].between: expected the numbers of two different GPUs, 0 to 1");
}

TEST_CASE("racks describe their uplink in one of two ways") {
  const std::string groups =
      R"("groups": [{"name": "a", "count": 2, "nics": [{"at": "numa0", "rate": "1Gbps"}]}],)";
  CHECK(error("{\"name\": \"lab\", " + groups + "\n\"network\": {\n\"racks\": {\"size\": 8}}}") ==
        "lab.json:3: network.racks: expected either 'oversubscription' or 'uplink'");
  CHECK(error("{\"name\": \"lab\", " + groups +
              "\n\"network\": {\"racks\": {\"size\": 0, \"uplink\": \"1Gbps\",\n"
              "\"placement\": \"random\"}}}") ==
        "lab.json:2: network.racks.size: 0 is too small; at least 1\n"
        "lab.json:3: network.racks.placement: expected one of 'packed', 'spread', not the string 'random'");
}

TEST_CASE("an error in a topology inside another document names its path there") {
  const Value experiment = parse_document(
                               "{\"topology\":\n{\"name\": \"lab\",\n\"groups\": [{\"name\": \"a\", "
                               "\"gpus\": [{\"at\": \"p\"}]}]}}",
                               "experiment.json")
                               .value();
  CHECK(read_topology(*experiment.find("topology"), "topology").error().text ==
        "experiment.json:3: topology.groups[0].gpus[0].at: there is no 'p' in group 'a'; there are 'numa0'");
}

TEST_CASE("an error in a value set by a sweep names the line of the sweep") {
  Value document = parse_document(R"({"name": "lab", "groups": [{"name": "cpu"}]})", "lab.json").value();
  Value count(std::int64_t{-1});
  count.place(std::make_shared<const std::string>("sweep.json"), 7);
  REQUIRE(document.set("groups.cpu.count", count));
  CHECK(read_topology(document).error().text == "sweep.json:7: groups[0].count: -1 is too small; at least 0");
}

TEST_CASE("a topology made by a program is checked too; its errors have no lines") {
  Topology topology;
  topology.groups.emplace_back();
  topology.groups[0].name = "gpu";
  topology.groups[0].gpus.emplace_back().at = "numa1";
  CHECK(check_topology(topology).error().text ==
        "groups[0].gpus[0].at: there is no 'numa1' in group 'gpu'; there are 'numa0'");
}

}  // namespace
}  // namespace weir
