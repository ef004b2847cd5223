#include "core/calibrate/split_label.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/analysis/local_choice.h"
#include "core/cluster/subcluster.h"
#include "core/strategies/strategy.h"

namespace weir {
namespace {

constexpr std::size_t kFirst = 8;  // machines of the first part tried
constexpr double kNothing = 1e-6;  // of a machine's even share

// About `count` machines, from each group in proportion and spread over it; at least two of a group that has
// two.
std::vector<MachineId> some_of(const Cluster& cluster, std::size_t count) {
  const std::vector<Machine>& machines = cluster.machines();
  std::map<std::string, std::vector<MachineId>> groups;
  for (std::size_t i = 0; i < machines.size(); ++i) groups[machines[i].group].emplace_back(i);
  std::vector<MachineId> some;
  for (const auto& [name, all] : groups) {
    const std::size_t even = (all.size() * count + machines.size() - 1) / machines.size();
    const std::size_t taken = std::min(all.size(), std::max<std::size_t>(2, even));
    for (std::size_t i = 0; i < taken; ++i)
      some.push_back(all[taken == 1 ? 0 : i * (all.size() - 1) / (taken - 1)]);
  }
  std::sort(some.begin(), some.end());
  return some;
}

int racks_of(const Cluster& cluster) {
  std::set<int> racks;
  for (const Machine& machine : cluster.machines()) racks.insert(machine.rack);
  return static_cast<int>(racks.size());
}

bool sums(const Shares& shares, std::size_t machine) {
  return shares.of_machine[machine] * static_cast<double>(shares.of_machine.size()) > kNothing;
}

// Whether the machines of the part do the same as in the whole.
bool alike(const Subcluster& part, const Cluster& whole, const Options& options, Dtype dtype,
           const Shares& shares, const LocalStageOf& stages) {
  if (racks_of(part.cluster) == 1 && racks_of(whole) > 1) return false;
  const auto local = choose_local(part.cluster, dtype, options);
  if (!local) return false;
  const auto own = shares_of(part.cluster, dtype, options, local->stages, Summing::kOptimal);
  if (!own) return false;
  for (std::size_t i = 0; i < part.machines.size(); ++i) {
    const std::size_t there = part.machines[i].index();
    if (local->stages[i] != stages[there] || sums(*own, i) != sums(shares, there)) return false;
  }
  return true;
}

// What the part's plan uses, scaled to all machines. Sizes depend on all machines, so they are taken to be
// the measured ones, which weaken no label.
Uses of_whole(Uses uses, const Cluster& whole, const Topology& topology) {
  for (const CalibratedValue& value : topology.calibration->values) {
    const auto used = uses.values.find(value.path);
    if (used != uses.values.end()) used->second = {value.least_size, value.most_size};
  }
  uses.machines = static_cast<int>(whole.machines().size());
  if (topology.network.racks) uses.racks = racks_of(whole);
  return uses;
}

}  // namespace

Label label_of_split(const Strategy& strategy, const Shares& shares, const LocalStageOf& stages,
                     const Cluster& cluster, const Workload& workload, const Experiment& experiment) {
  const Options& options = experiment.options;
  const Contender contender{&strategy, options};
  if (!experiment.topology.calibration) return label_of(Uses{}, experiment, contender);
  const Dtype dtype = most_common_dtype(experiment.trace);
  Label unknown{Trust::kVendorConstant, "the plan that would show which values it uses is too large to make"};
  for (std::size_t count = kFirst; count < cluster.machines().size(); count *= 2) {
    const Subcluster part(cluster, some_of(cluster, count));
    if (!alike(part, cluster, options, dtype, shares, stages)) continue;
    if (!check_size(strategy, part.cluster, workload, options)) break;
    const auto plan = strategy.plan(part.cluster, workload, options);
    if (!plan) continue;
    const WorkTable works(*plan, part.cluster);
    Uses uses =
        of_whole(uses_of(*plan, part.cluster, works, experiment, contender), cluster, experiment.topology);
    Label label = label_of(uses, experiment, contender);
    if (label.trust != Trust::kCalibrated) return label;
    unknown = {Trust::kExtrapolated,
               "the plan that would show the sizes of its messages is too large to make"};
    break;
  }
  if (!check_size(strategy, cluster, workload, options)) return unknown;
  const auto plan = strategy.plan(cluster, workload, options);
  return plan ? label_of(*plan, cluster, WorkTable(*plan, cluster), experiment, contender) : unknown;
}

}  // namespace weir
