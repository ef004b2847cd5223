#include "core/strategies/blocks/op_counts.h"

#include <cmath>

namespace weir {

double gpu_machine_count(const Cluster& cluster) {
  return static_cast<double>(cluster.gpu_machines().size());
}

double gpu_count(const Cluster& cluster) {
  double gpus = 0;
  for (const MachineId id : cluster.gpu_machines())
    gpus += static_cast<double>(cluster.machine(id).gpus.size());
  return gpus;
}

double pieces(const Workload& workload, Bytes each) {
  return std::ceil(static_cast<double>(workload.size().count()) / static_cast<double>(each.count()));
}

double fused_pieces(const Workload& workload, const Options& options) {
  return options.independent_layers ? static_cast<double>(workload.partition(options.fusion_size).size())
                                    : pieces(workload, options.fusion_size);
}

double ops_of_parts(const Cluster& cluster, const Workload& workload, Bytes part) {
  return ops_of_parts(cluster, pieces(workload, part));
}

double ops_of_parts(const Cluster& cluster, double parts) {
  constexpr double kOpsPerPart = 9;
  return kOpsPerPart * gpu_machine_count(cluster) * parts;
}

}  // namespace weir
