#include "core/analysis/local_choice.h"

#include <algorithm>
#include <map>

#include "core/analysis/shares.h"

namespace weir {
namespace {

constexpr double kWorthIt = 0.005;  // how much faster another stage must be than the preferred one

std::vector<std::vector<MachineId>> gpu_machines_by_class(const Cluster& cluster) {
  std::map<int, std::vector<MachineId>> classes;
  for (const MachineId machine : cluster.gpu_machines()) {
    classes[cluster.machine_class(machine)].push_back(machine);
  }
  std::vector<std::vector<MachineId>> lists;
  for (auto& [number, machines] : classes) lists.push_back(std::move(machines));
  return lists;
}

void set(LocalStageOf& stages, const std::vector<MachineId>& machines, LocalStage stage) {
  for (const MachineId machine : machines) stages[machine.index()] = stage;
}

}  // namespace

Result<LocalChoice> choose_local(const Cluster& cluster, Dtype dtype, const Options& options) {
  LocalChoice choice;
  choice.stages = no_local_stages(cluster);
  const auto classes = gpu_machines_by_class(cluster);
  if (options.local != LocalStage::kAuto) {
    for (const std::vector<MachineId>& machines : classes) {
      const Result<void> possible = check_local(cluster, machines.front(), options.local);
      if (!possible) return tl::unexpected(possible.error());
      set(choice.stages, machines, options.local);
      choice.reasons.push_back({machines, options.local, "the experiment says so"});
    }
    return choice;
  }
  std::vector<LocalCandidates> candidates;
  for (const std::vector<MachineId>& machines : classes) {
    candidates.push_back(local_candidates(cluster, machines.front()));
    set(choice.stages, machines, candidates.back().stages.front());
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::vector<LocalStage>& stages = candidates[i].stages;
    std::vector<double> seconds;  // per GB of model
    if (stages.size() > 1) {
      for (const LocalStage stage : stages) {
        set(choice.stages, classes[i], stage);
        const auto shares = shares_of(cluster, dtype, options, choice.stages, Summing::kOptimal);
        if (!shares) return tl::unexpected(shares.error());
        seconds.push_back(shares->seconds_per_byte * 1e9);
      }
    }
    std::size_t best = 0;
    for (std::size_t s = 1; s < seconds.size(); ++s) {
      if (seconds[s] < seconds[best] * (1 - kWorthIt)) best = s;
    }
    set(choice.stages, classes[i], stages[best]);
    std::string why(candidates[i].why);
    if (best > 0) {
      why =
          fmt::format("the split takes {:.4g} ms per GB, but {:.4g} ms with {}, which the rules prefer as {}",
                      seconds[best] * 1e3, seconds[0] * 1e3, enum_name(stages[0]), why);
    }
    choice.reasons.push_back({classes[i], stages[best], std::move(why)});
  }
  return choice;
}

Result<LocalChoice> conventional_local(const Cluster& cluster, Dtype dtype, const Options& options) {
  if (options.local == LocalStage::kApart) return failure(kApartRefused);
  if (options.local != LocalStage::kAuto) return choose_local(cluster, dtype, options);
  LocalChoice choice;
  choice.stages = no_local_stages(cluster);
  choice.reasons.push_back(
      {cluster.gpu_machines(), LocalStage::kReduceScatter, "other libraries do it whatever the topology"});
  return choice;
}

}  // namespace weir
