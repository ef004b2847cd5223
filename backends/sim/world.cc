#include "backends/sim/world.h"

#include "backends/sim/engine.h"
#include "core/hardware/work.h"

namespace weir::sim {

namespace {

// No path contains an unlimited link, so it may have any rate.
std::vector<LinkSpec> specs(const Cluster& cluster, const std::vector<double>& rates) {
  std::vector<LinkSpec> links;
  for (std::size_t i = 0; i < rates.size(); ++i) links.push_back({cluster.links()[i].name, rates[i]});
  return links;
}

}  // namespace

Result<Record> simulate(const Plan& plan, const Cluster& cluster, const SimulationSettings& settings) {
  Engine engine(specs(cluster, reached_rates(plan, cluster)));
  return weir::simulate(plan, cluster, settings, engine);
}

Result<SharedRun> simulate(const Cluster& cluster, std::span<const Job> jobs, int iterations,
                           const Conditions& conditions) {
  Engine engine(specs(cluster, reached_rates(cluster, jobs)));
  return weir::simulate(cluster, jobs, iterations, conditions, engine);
}

}  // namespace weir::sim
