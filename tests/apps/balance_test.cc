// The unified strategy loads every shipped cluster as evenly as the optimal split says.
#include <algorithm>
#include <filesystem>

#include "apps/weir/loads.h"
#include "core/cluster/topology_file.h"
#include "core/strategies/strategy.h"
#include "core/workload/trace_file.h"
#include "tests/catch.h"

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

TEST_CASE("no link or device is loaded more than 1 % beyond the optimal split, on any shipped cluster") {
  int plans = 0;
  const std::vector<Trace> traces = every("traces", [](const std::string& path) { return read_trace(path); });
  for (const Topology& topology :
       every("topologies", [](const std::string& path) { return read_topology(path); })) {
    const Cluster cluster(topology);
    for (const Trace& trace : traces) {
      if (size(trace) < Bytes(100'000'000)) continue;
      CAPTURE(topology.name, trace.name);
      const Workload workload(trace);
      const Options options;
      const auto best = ideal(cluster, workload, options);
      REQUIRE(best);
      if (*best == Duration()) continue;  // nothing takes time
      const auto plan = (*strategy_named("unified"))->plan(cluster, workload, options);
      REQUIRE(plan);
      const Busiest most = busiest(*plan, cluster, WorkTable(*plan, cluster));
      INFO(most.name);
      CHECK(most.time.seconds() <= 1.01 * best->seconds());
      ++plans;
    }
  }
  CHECK(plans >= 40);
}

}  // namespace
}  // namespace weir
