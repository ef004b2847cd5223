#include "core/experiment/other_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace weir {

std::vector<std::pair<std::string, std::string>> faults(const std::vector<std::string>& machines,
                                                        const std::vector<OtherJob>& others,
                                                        const Cluster& cluster) {
  std::vector<std::pair<std::string, std::string>> wrong;
  std::map<MachineId, std::string> taken;  // the job that has each machine with GPUs
  const auto check = [&](const std::string& path, const std::string& job,
                         const std::vector<std::string>& named) {
    const std::size_t before = wrong.size();
    for (std::size_t i = 0; i < named.size(); ++i) {
      if (!machines_named(named[i], cluster).empty()) continue;
      wrong.emplace_back(fmt::format("{}[{}]", path, i),
                         fmt::format("no machine is named '{}'; they are named {} to {}", named[i],
                                     cluster.machines().front().name, cluster.machines().back().name));
    }
    if (wrong.size() > before) return;
    bool trains = false;
    for (const MachineId machine : machines_named(named, cluster)) {
      if (!cluster.machine(machine).has_gpus()) continue;
      trains = true;
      const auto [at, fresh] = taken.try_emplace(machine, job);
      if (fresh) continue;
      wrong.emplace_back(path, fmt::format("{} has GPUs and is already a machine of {}; jobs share only the "
                                           "network and machines without GPUs",
                                           cluster.machine(machine).name, at->second));
      return;
    }
    if (!trains)
      wrong.emplace_back(path, "none of these machines has a GPU; a job needs at least one with a GPU");
  };
  check("machines", "the experiment's own job ('machines')", machines);
  for (std::size_t i = 0; i < others.size(); ++i) {
    check(fmt::format("other_jobs[{}].machines", i), fmt::format("'{}'", others[i].name), others[i].machines);
  }
  return wrong;
}

std::vector<std::pair<std::string, std::string>> failures_elsewhere(const Conditions& conditions,
                                                                    const std::vector<std::string>& machines,
                                                                    const Cluster& cluster) {
  std::vector<std::pair<std::string, std::string>> wrong;
  const std::vector<MachineId> own = machines_named(machines, cluster);
  for (std::size_t i = 0; i < conditions.stops.size(); ++i) {
    if (conditions.stops[i].spell.lasting) continue;
    for (const MachineId machine : machines_named(conditions.stops[i].machines, cluster)) {
      if (std::find(own.begin(), own.end(), machine) != own.end()) continue;
      wrong.emplace_back(
          fmt::format("stops[{}].machines", i),
          fmt::format("{} is not one of the experiment's 'machines', so its stop must end; give it a 'for'",
                      cluster.machine(machine).name));
      break;
    }
  }
  return wrong;
}

}  // namespace weir
