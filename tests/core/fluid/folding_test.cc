#include "core/fluid/folding.h"

#include <string>

#include "core/base/units_text.h"
#include "core/cluster/topology_file.h"
#include "core/fluid/fluid_engine.h"
#include "core/fluid/rough_engine.h"
#include "core/fluid/simulation.h"
#include "core/strategies/strategy.h"
#include "core/workload/trace_file.h"
#include "tests/catch.h"

namespace weir {
namespace {

using namespace weir::literals;

template <class T>
T good(Result<T> result) {
  if (!result) FAIL(result.error().text);
  return std::move(*result);
}

// Layers of as many f32 elements.
Trace trace_of(const std::vector<std::int64_t>& elements) {
  Trace trace = good(read_trace(std::string(WEIR_SOURCE_DIR) + "/traces/three-layers.json"));
  const Layer layer = trace.layers.at(0);
  trace.layers.clear();
  for (const std::int64_t each : elements) {
    trace.layers.push_back(layer);
    trace.layers.back().name = fmt::format("layer{}", trace.layers.size());
    trace.layers.back().tensors = {{trace.layers.back().name + ".weight", each, Dtype::kF32}};
  }
  return trace;
}

struct Training {
  Training(const std::string& topology_name, int machines, const std::string& strategy, const Trace& of)
      : trace(of) {
    Topology topology =
        good(read_topology(fmt::format("{}/topologies/{}.json", WEIR_SOURCE_DIR, topology_name)));
    topology.groups[0].count = machines;
    cluster.emplace(topology);
    workload.emplace(trace);
    options.local = LocalStage::kReduce;
    const Strategy& with = *good(strategy_named(strategy));
    plan = good(with.plan(*cluster, *workload, options));
    dispatch = dispatch_of(with, options);
  }

  // Whether the run can be folded; if so it must be the whole's.
  bool folds(const Model& model = {}, const Conditions& conditions = {}) const {
    constexpr int kIterations = 3;
    const Subcluster all(*cluster);
    const Job job{plan, all, dispatch, model, {}};
    const auto make = [](const std::vector<double>& rates) { return fluid_engine(rates, 0.0); };
    const auto folded = simulate_folded(*cluster, job, kIterations, conditions, make);
    if (!folded) return false;
    FluidEngine engine(plan, *cluster);
    const SharedRun whole = good(simulate(*cluster, {&job, 1}, kIterations, conditions, engine));
    CHECK(folded->record == whole.record);
    return true;
  }

  Trace trace;
  std::optional<Cluster> cluster;
  std::optional<Workload> workload;
  Options options;
  Plan plan;
  Dispatch dispatch;
};

const std::vector<std::int64_t> kEven = {1 << 20, 3 << 16, 1 << 22, 1 << 18};

TEST_CASE("rings of machines that all do the same are folded, and their runs are the whole's") {
  for (const char* topology : {"byteps-v100-nvlink", "byteps-v100-pcie", "one-gpu-90gbps"}) {
    for (const char* strategy : {"ring", "flat-ring"}) {
      for (const int machines : {2, 3, 4, 8}) {
        INFO(topology << ' ' << strategy << ' ' << machines);
        const std::vector<std::int64_t> thirds = {3 << 18, 3 << 16};
        CHECK(Training(topology, machines, strategy, trace_of(machines == 3 ? thirds : kEven)).folds());
      }
    }
  }
}

TEST_CASE("machines that do not all do the same are not folded") {
  CHECK_FALSE(Training("byteps-v100-nvlink", 4, "unified", trace_of(kEven)).folds());
  CHECK_FALSE(Training("byteps-v100-nvlink", 4, "ps", trace_of(kEven)).folds());
  CHECK_FALSE(Training("byteps-v100-nvlink", 8, "double-tree", trace_of(kEven)).folds());
  CHECK_FALSE(Training("racks-oversubscribed", 32, "ring", trace_of(kEven)).folds());
  // Chunks of a tensor that does not divide by the machines.
  CHECK_FALSE(Training("byteps-v100-nvlink", 4, "ring", trace_of({1 << 20, (1 << 20) + 1})).folds());
}

TEST_CASE("what tells machines apart while they run is not folded away") {
  const Training training("one-gpu-90gbps", 4, "ring", trace_of(kEven));
  CHECK(training.folds());
  Model model;
  model.compute_jitter = 0.1;
  CHECK_FALSE(training.folds(model));
  Conditions conditions;
  conditions.stragglers.push_back({"gpu[1]", 1.5, 0.0});
  CHECK_FALSE(training.folds({}, conditions));
}

TEST_CASE("a plan with one edge less on one machine is not folded") {
  Training training("one-gpu-90gbps", 4, "ring", trace_of(kEven));
  const WorkTable works(training.plan, *training.cluster);
  CHECK(fold(training.plan, *training.cluster, works).has_value());
  PlanBuilder builder(training.plan.strategy(), training.plan.machines());
  for (const Buffer& buffer : training.plan.buffers()) builder.add(buffer);
  for (const std::vector<int>& group : training.plan.groups()) builder.group(group);
  for (std::size_t i = 0; i < training.plan.messages().size(); ++i) builder.add_message();
  for (const Op& op : training.plan.ops()) builder.add(op);
  bool left_out = false;
  for (const Op& op : training.plan.ops()) {
    for (const Successor next : training.plan.successors(op.id)) {
      const OpId after(static_cast<std::size_t>(next.op));
      if (next.carried != 0) {
        builder.carry(op.id, after);
      } else if (left_out || op.machine != MachineId(2) || op.kind != OpKind::kReceive) {
        builder.order(op.id, after);
      } else {
        left_out = true;
      }
    }
  }
  REQUIRE(left_out);
  const Plan broken = std::move(builder).build();
  const WorkTable broken_works(broken, *training.cluster);
  CHECK_FALSE(fold(broken, *training.cluster, broken_works).has_value());
}

}  // namespace
}  // namespace weir
