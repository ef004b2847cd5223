#include "backends/sim/world.h"

#include "backends/sim/engine.h"
#include "core/fluid/work.h"

namespace weir::sim {

Result<Record> simulate(const Plan& plan, const Cluster& cluster, const SimulationSettings& settings) {
  // An unlimited link stands in no path, so that any rate will do for it.
  std::vector<LinkSpec> links;
  for (const Link& link : cluster.links())
    links.push_back({link.name, static_cast<double>(reached_rate(plan, link).value())});
  Engine engine(links);
  return weir::simulate(plan, cluster, settings, engine);
}

}  // namespace weir::sim
