#include "core/strategies/summation.h"

#include <algorithm>
#include <set>

#include "core/plan/proof.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

TEST_CASE("a part that many machines sum leaves a machine's GPUs as one, but for what it sums itself") {
  Topology topology = shipped_topology("byteps-v100-nvlink");
  topology.groups[0].count = 12;
  topology.groups[1].count = 6;
  const Cluster cluster(topology);
  Trace trace;
  trace.layers.push_back({"only", 1_ms, 1_ms, {{"weight", 1'000'000, Dtype::kF32}}});
  const Workload workload(trace);
  Options options;
  options.partition_size = options.finest_part = 4_MB;
  for (const LocalStage stage : {LocalStage::kReduce, LocalStage::kReduceScatter, LocalStage::kGpuDirect}) {
    options.local = stage;
    const Result<Plan> plan = summation_plan("unified", cluster, workload, options, Summing::kOptimal);
    REQUIRE(plan);
    REQUIRE(prove(*plan, cluster, workload));
    std::size_t in_pieces = 0;
    for (const MachineId machine : cluster.gpu_machines()) {
      std::set<MachineId> owners;
      std::size_t reductions = 0;
      Bytes reduced;
      for (const Op& op : plan->ops(machine)) {
        if (op.kind == OpKind::kSend) owners.insert(op.peer);
        if (op.kind != OpKind::kReduce && op.kind != OpKind::kReduceScatter) continue;
        ++reductions;
        reduced += op.into.size;
      }
      CHECK(reduced == 4_MB);
      CHECK(reductions <= 3);
      in_pieces += owners.size() > 3 ? 1 : 0;
    }
    CHECK(in_pieces == cluster.gpu_machines().size());
  }
}

}  // namespace
}  // namespace weir
