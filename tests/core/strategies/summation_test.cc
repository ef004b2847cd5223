#include "core/strategies/summation.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/plan/proof.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

TEST_CASE("a part that many machines sum leaves a machine's GPUs whole, except for its own share") {
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

// Two machines with four GPUs each, and two servers.
Topology four_gpus() {
  return topology_of(R"({"name": "apart", "groups": [
    {"name": "gpu", "count": 2, "numa": [{}], "gpus": [{"count": 4, "at": "numa0", "rate": "40GB/s"}],
     "nics": [{"at": "numa0", "rate": "1GB/s"}]},
    {"name": "cpu", "count": 2, "numa": [{}], "nics": [{"at": "numa0", "rate": "1GB/s"}]}]})");
}

Trace four_tensors() {
  Trace trace;
  for (const char* name : {"a", "b", "c", "d"})
    trace.layers.push_back({name, 1_ms, 1_ms, {{"weight", 1'000'000, Dtype::kF32}}});
  return trace;
}

TEST_CASE("with local stage 'apart' each GPU pushes and pulls all bytes itself") {
  const Cluster cluster(four_gpus());
  const Trace trace = four_tensors();
  const Workload workload(trace);
  Options options;
  options.local = LocalStage::kApart;
  options.placement = PartPlacement::kInTurn;
  const Result<Plan> plan = summation_plan("ps", cluster, workload, options, Summing::kCpuMachines);
  REQUIRE(plan);
  REQUIRE(prove(*plan, cluster, workload));
  std::map<MachineId, Bytes> sent;
  for (const Op& op : plan->ops()) {
    if (op.kind == OpKind::kSend) sent[op.machine] += op.from.size;
  }
  for (const MachineId machine : cluster.gpu_machines()) CHECK(sent[machine] == 4 * 16_MB);
  for (const MachineId machine : cluster.cpu_machines()) CHECK(sent[machine] == 8 * 8_MB);
}

TEST_CASE("an update barrier holds sums back until all are complete, and costs two messages a server") {
  const Cluster cluster(four_gpus());
  const Trace trace = four_tensors();
  const Workload workload(trace);
  const auto planned = [&](bool barrier) {
    Options options;
    options.placement = PartPlacement::kInTurn;
    options.update_barrier = barrier;
    return summation_plan("ps", cluster, workload, options, Summing::kCpuMachines).value();
  };
  const Plan held = planned(true);
  REQUIRE(prove(held, cluster, workload));
  CHECK(held.messages().size() == planned(false).messages().size() + 4);
}

TEST_CASE("options that only servers support are refused elsewhere") {
  const Cluster cluster(four_gpus());
  const Trace trace = four_tensors();
  const Workload workload(trace);
  const auto refusal = [&](const Options& options, Summing summing) {
    const Result<Plan> plan = summation_plan("any", cluster, workload, options, summing);
    return plan ? std::string() : plan.error().text;
  };
  Options apart;
  apart.local = LocalStage::kApart;
  CHECK(refusal(apart, Summing::kOptimal) ==
        "local 'apart' is for parameter servers on machines without GPUs");
  Options barrier;
  barrier.update_barrier = true;
  CHECK(refusal(barrier, Summing::kGpuMachines) ==
        "'update_barrier' is for parameter servers on machines without GPUs");
  Options in_turn;
  in_turn.placement = PartPlacement::kInTurn;
  CHECK(refusal(in_turn, Summing::kOptimal) == "placement 'in_turn' is for parameter servers");
  CHECK(refusal(in_turn, Summing::kGpuMachines).empty());
}

}  // namespace
}  // namespace weir
