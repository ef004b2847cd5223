// Predictions of how many ops a plan will have, before it is made.
#include <fmt/format.h>

#include <algorithm>

#include "core/strategies/strategy.h"
#include "core/workload/trace_file.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

Trace bert() { return read_trace(std::string(WEIR_SOURCE_DIR) + "/traces/bert-large.json").value(); }

TEST_CASE("the number of ops is predicted to a factor of two, for every strategy") {
  const Trace trace = bert();
  const Workload workload(trace);
  for (const char* shipped : {"byteps-v100-pcie", "one-gpu-90gbps"}) {
    const Cluster cluster(shipped_topology(shipped));
    for (const Strategy& strategy : strategies()) {
      INFO(shipped << " " << strategy.name);
      Options options;
      options.partition_size = options.finest_part = 1_MB;
      const auto plan = strategy.plan(cluster, workload, options);
      REQUIRE(plan);
      const auto ops = static_cast<double>(plan->ops().size());
      CHECK(strategy.ops(cluster, workload, options) < 2 * ops);
      CHECK(strategy.ops(cluster, workload, options) > ops / 2);
    }
  }
}

TEST_CASE("a plan too large for memory is refused with the option that makes it smaller") {
  const Trace trace = bert();
  const Workload workload(trace);
  Topology topology = shipped_topology("byteps-v100-nvlink");
  topology.groups[0].count = 128;
  const Cluster cluster(topology);
  Options options;
  options.partition_size = options.finest_part = options.fusion_size = 1_KB;
  for (const Strategy& strategy : strategies()) {
    if (strategy.grain.empty()) continue;
    INFO(strategy.name);
    const auto fits = check_size(strategy, cluster, workload, options);
    REQUIRE_FALSE(fits);
    const std::string raise = fmt::format("raise {}, or ", fmt::join(strategy.grain, " and "));
    CHECK_THAT(fits.error().text, has_text("memory holds about 2e+07; " + raise));
    const std::vector<std::string_view> over_gpus = {"flat-ring", "ddp", "horovod", "bytescheduler"};
    const bool large = std::find(over_gpus.begin(), over_gpus.end(), strategy.name) != over_gpus.end();
    CHECK(check_size(strategy, cluster, workload, Options{}).has_value() == !large);
  }
}

TEST_CASE("the strategies that an option cuts are those whose rows say so") {
  CHECK(strategies_cut_by("fusion_size") == "ring, flat-ring, hierarchical, halving-doubling");
  CHECK(strategies_cut_by("bucket_size") == "ddp");
  CHECK(strategies_cut_by("policy").empty());
}

}  // namespace
}  // namespace weir
