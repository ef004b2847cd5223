#include "core/experiment/experiment.h"

namespace weir {

Subcluster subcluster_of(const Experiment& experiment, const Cluster& whole) {
  return Subcluster(whole, machines_named(experiment.machines, whole));
}

Cluster cluster_of(const Experiment& experiment) {
  return subcluster_of(experiment, Cluster(experiment.topology)).cluster;
}

Result<Contender> contender(const Experiment& experiment, const std::string& name) {
  const auto variant = experiment.variants.find(name);
  const bool own = variant != experiment.variants.end();
  const auto strategy = strategy_named(own ? variant->second.strategy : name);
  if (strategy) {
    return Contender{*strategy, (*strategy)->settled(own ? variant->second.options : experiment.options)};
  }
  std::string more;
  for (const auto& [known, what] : experiment.variants) more += ", " + known;
  return failure(strategy.error().text + more);
}

}  // namespace weir
