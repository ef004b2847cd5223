// What benchmarks of engines simulate: BERT-Large on machines of eight V100 with NVLink and CPU machines,
// the unified strategy in parts of 4 MB, reduce as the local stage.
#pragma once

#include <memory>

#include "core/base/check.h"
#include "core/cluster/topology_file.h"
#include "core/plan/plan.h"
#include "core/simulate/simulation.h"
#include "core/strategies/strategy.h"
#include "core/workload/trace_file.h"

namespace weir::benchmarks {

/// Benchmarks read only shipped files, so an error is a bug.
template <class T>
T good(Result<T> result) {
  WEIR_CHECK(result.has_value(), result ? std::string() : result.error().text);
  return std::move(*result);
}

/// With that many machines. The GPU machines' NICs send `faster` bytes per second faster than in the
/// topology.
class BertLarge {
 public:
  BertLarge(int gpu_machines, int cpu_machines, int faster = 0) {
    using namespace weir::literals;
    const std::string folder = WEIR_SOURCE_DIR;
    Topology topology = good(read_topology(folder + "/topologies/byteps-v100-nvlink.json"));
    topology.groups[0].count = gpu_machines;
    topology.groups[1].count = cpu_machines;
    for (NicSpec& nic : topology.groups[0].nics) nic.rate.out = BytesPerSecond(nic.rate.out.value() + faster);
    cluster_ = std::make_unique<Cluster>(topology);
    trace_ = good(read_trace(folder + "/traces/bert-large.json"));
    workload_ = std::make_unique<Workload>(trace_);
    options_.partition_size = options_.finest_part = 4_MB;
    options_.local = LocalStage::kReduce;
  }

  BertLarge(const BertLarge&) = delete;
  BertLarge& operator=(const BertLarge&) = delete;

  const Cluster& cluster() const { return *cluster_; }
  const Workload& workload() const { return *workload_; }
  Plan plan() const { return good(strategy().plan(cluster(), workload(), options_)); }
  SimulationSettings settings(int iterations) const {
    SimulationSettings settings;
    settings.dispatch = dispatch_of(strategy(), options_);
    settings.iterations = iterations;
    return settings;
  }

 private:
  static const Strategy& strategy() { return *good(strategy_named("unified")); }
  std::unique_ptr<Cluster> cluster_;
  Trace trace_;
  std::unique_ptr<Workload> workload_;  // looks at the trace
  Options options_;
};

/// When the last op of that iteration completed, from the start of the first iteration.
inline Duration end_of(const Record& record, const Plan& plan, int iteration) {
  Instant end;
  for (const Op& op : plan.ops()) end = std::max(end, record.of(op.id, iteration).completed);
  return end - Instant();
}

}  // namespace weir::benchmarks
