// The unified strategy loads every shipped cluster as evenly as the optimal split says.
#include <algorithm>
#include <filesystem>

#include "core/analysis/loads.h"
#include "core/cluster/topology_file.h"
#include "core/strategies/strategy.h"
#include "core/workload/trace_file.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

template <class Read>
auto every(const std::string& folder, const Read& read) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(WEIR_SOURCE_DIR "/" + folder)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::decay_t<decltype(*read(paths.front()))>> all;
  for (const std::string& path : paths) {
    auto file = read(path);
    INFO(path);
    REQUIRE(file);
    all.push_back(std::move(*file));
  }
  return all;
}

// How much more than the optimal split the unified strategy loads the busiest link or device; 1 where nothing
// takes time.
double excess(const Topology& topology, const Trace& trace) {
  const Cluster cluster(topology);
  const Workload workload(trace);
  const Options options;
  const auto best = ideal(cluster, workload, options);
  REQUIRE(best);
  if (*best == Duration()) return 1.0;
  const auto plan = (*strategy_named("unified"))->plan(cluster, workload, options);
  REQUIRE(plan);
  const Busiest most = busiest(*plan, cluster, WorkTable(*plan, cluster));
  UNSCOPED_INFO(most.name);
  return most.time / *best;
}

TEST_CASE("no link or device is loaded more than 1 % beyond the optimal split, on any shipped cluster") {
  const std::vector<Trace> traces = every("traces", [](const std::string& path) { return read_trace(path); });
  for (const Topology& topology :
       every("topologies", [](const std::string& path) { return read_topology(path); })) {
    for (const Trace& trace : traces) {
      if (size(trace) < Bytes(100'000'000)) continue;
      CAPTURE(topology.name, trace.name);
      CHECK(excess(topology, trace) <= 1.01);
    }
  }
}

TEST_CASE("loads are also within 1 % of the optimal split with many NICs, or if NICs read GPU memory") {
  const auto trace = read_trace(std::string(WEIR_SOURCE_DIR "/traces/resnet-50.json"));
  REQUIRE(trace);
  // Thirteen machines and sixteen, with eight NICs each.
  CHECK(excess(topology_of(R"({"name": "NICs", "groups": [
    {"name": "gpu", "count": 13, "gpus": [{"at": "numa0"}], "nics": [{"count": 8, "at": "numa0", "rate": "100Gbps"}]},
    {"name": "cpu", "count": 3, "nics": [{"count": 8, "at": "numa0", "rate": "7.3Gbps"}]},
    {"name": "more", "count": 13, "nics": [{"count": 8, "at": "numa0", "rate": "90Gbps"}]}]})"),
               *trace) <= 1.01);
  // The NIC reads the root's memory, but what the machine sums goes through host memory.
  CHECK(excess(topology_of(R"({"name": "direct", "groups": [
    {"name": "gpu", "count": 3, "numa": [{"memory_rate": "50GB/s"}], "switches": [{"name": "p0", "at": "numa0", "rate": "24GB/s"}],
     "gpus": [{"count": 2, "at": "p0", "rate": "12GB/s"}], "nvlink": {"switch": {"rate": "150GB/s"}},
     "nics": [{"at": "p0", "rate": "400Gbps"}]}]})"),
               *trace) <= 1.01);
}

}  // namespace
}  // namespace weir
