#include "core/analysis/local_loads.h"

#include "core/hardware/work.h"
#include "core/strategies/blocks/nics.h"

namespace weir {
namespace {

constexpr std::int64_t kElements = 1 << 22;  // so large that unequal shares in a sample do not matter

// A scheme for some bytes, with their NIC and their NUMA node.
struct Sample {
  int nic = 0;
  int numa = 0;
  LocalMix mix;
};

// One layer for each sample, so that its ops can be recognized.
Trace trace_of(std::size_t samples, Dtype dtype) {
  Trace trace;
  for (std::size_t i = 0; i < samples; ++i) trace.layers.push_back({"", {}, {}, {{"", kElements, dtype}}});
  return trace;
}

}  // namespace

LocalLoads local_loads(const Cluster& cluster, MachineId machine, LocalStage stage, Dtype dtype,
                       const Options& options, bool own) {
  std::vector<Sample> samples;
  const std::vector<double> fractions = nic_fractions(cluster, machine);
  for (std::size_t nic = 0; nic < fractions.size(); ++nic) {
    const int number = static_cast<int>(nic);
    for (const LocalMix& mix : local_mix(cluster, machine, number, stage, options.brute_force)) {
      for (const auto& [numa, fraction] : numa_fractions(cluster, machine, number, options.numa)) {
        samples.push_back({number, numa, {mix.scheme, mix.fraction * fractions[nic] * fraction}});
      }
    }
  }
  const Trace trace = trace_of(samples.size(), dtype);
  const Workload workload(trace);
  PlanBuilder builder("local", cluster.machines().size());
  LocalStages stages(cluster, workload, options, no_local_stages(cluster), builder);
  for (const Part& part : workload.partition(size(dtype) * kElements)) {
    const Sample& sample = samples[static_cast<std::size_t>(part.first_layer)];
    const LocalWay way = stages.out_by(sample.mix.scheme, machine, part, sample.nic, sample.numa, !own);
    stages.in(way, part, {way.ready});
  }
  const Plan plan = std::move(builder).build();
  const WorkTable works(plan, cluster);
  LocalLoads loads;
  for (const Op& op : plan.ops(machine)) {
    if (is_compute(op.kind)) continue;
    const Work& work = works.of(op.id);
    const double fraction = samples[static_cast<std::size_t>(op.layer)].mix.fraction /
                            static_cast<double>(size(dtype).count() * kElements);
    if (work.path == Work::kNoPath) continue;
    for (const LinkUse& use : works.paths()[static_cast<std::size_t>(work.path)])
      loads[use.link] += fraction * static_cast<double>((work.size * use.weight).count());
  }
  return loads;
}

}  // namespace weir
