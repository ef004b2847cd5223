#include "core/strategies/blocks/local_scheme.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/cluster/topology.h"

namespace weir {
namespace {

std::vector<int> all_gpus(const Machine& machine) {
  std::vector<int> gpus(machine.gpus.size());
  std::iota(gpus.begin(), gpus.end(), 0);
  return gpus;
}

// The GPUs under each switch (or directly at each NUMA node), in the order of their first GPUs.
std::vector<std::vector<int>> by_switch(const Machine& machine) {
  std::vector<std::vector<int>> groups;
  std::map<std::string, std::size_t> group_of;
  for (const int gpu : all_gpus(machine)) {
    const std::string& at = machine.gpus[static_cast<std::size_t>(gpu)].at;
    const auto [known, fresh] = group_of.try_emplace(at, groups.size());
    if (fresh) groups.emplace_back();
    groups[known->second].push_back(gpu);
  }
  return groups;
}

std::vector<std::vector<int>> one_by_one(const Machine& machine) {
  std::vector<std::vector<int>> groups;
  for (const int gpu : all_gpus(machine)) groups.push_back({gpu});
  return groups;
}

// The GPUs whose routes to host memory share the fewest links with the routes of the NICs. The copies of a
// root beside a NIC would share its switch with the network (BytePS, OSDI'20, section 4.2.2).
std::vector<int> roots_of(const Cluster& cluster, MachineId machine) {
  const Machine& spec = cluster.machine(machine);
  if (cluster.machines().size() == 1) return all_gpus(spec);
  const MachineId other(machine.index() == 0 ? 1 : 0);
  const Memory there = Memory::host(0);
  std::set<LinkId> used;
  for (std::size_t i = 0; i < spec.nics.size(); ++i) {
    const auto nic = static_cast<int>(i);
    const Memory here = Memory::host(spec.nics[i].numa);
    for (const Route& route : {cluster.route(machine, here, nic, other, there, 0),
                               cluster.route(other, there, 0, machine, here, nic)}) {
      used.insert(route.links.begin(), route.links.end());
    }
  }
  const auto shared = [&](int gpu) {
    std::ptrdiff_t links = 0;
    for (std::size_t numa = 0; numa < spec.numas.size(); ++numa) {
      const Memory host = Memory::host(static_cast<int>(numa));
      for (const Route& route :
           {cluster.route(machine, Memory::gpu(gpu), host), cluster.route(machine, host, Memory::gpu(gpu))}) {
        links += std::count_if(route.links.begin(), route.links.end(),
                               [&](LinkId link) { return used.contains(link); });
      }
    }
    return links;
  };
  std::vector<int> roots;
  std::ptrdiff_t fewest = 0;
  for (const int gpu : all_gpus(spec)) {
    const std::ptrdiff_t links = shared(gpu);
    if (roots.empty() || links < fewest) {
      roots.clear();
      fewest = links;
    }
    if (links == fewest) roots.push_back(gpu);
  }
  return roots;
}

// The GPUs under the NIC's switch.
std::vector<int> beside(const Machine& machine, const Nic& nic) {
  std::vector<int> gpus;
  for (const int gpu : all_gpus(machine)) {
    if (machine.gpus[static_cast<std::size_t>(gpu)].at == nic.at) gpus.push_back(gpu);
  }
  return gpus;
}

bool direct_possible(const Machine& machine) {
  return !machine.nics.empty() && std::all_of(machine.nics.begin(), machine.nics.end(), [&](const Nic& nic) {
    return numa_named(nic.at) < 0 && !beside(machine, nic).empty();
  });
}

std::vector<LocalMix> rooted(const Machine& machine, const std::vector<int>& roots, bool direct) {
  std::vector<LocalMix> mix;
  for (const int root : roots) {
    mix.push_back({{{all_gpus(machine)}, false, root, direct}, 1.0 / static_cast<double>(roots.size())});
  }
  return mix;
}

}  // namespace

Result<void> check_local(const Cluster& cluster, MachineId id, LocalStage stage) {
  const Machine& machine = cluster.machine(id);
  if (stage != LocalStage::kGpuDirect || direct_possible(machine)) return {};
  return failure(
      fmt::format("gpu_direct needs a GPU beside each NIC, under one PCIe switch; {} has a NIC without one",
                  machine.name));
}

std::vector<LocalMix> local_mix(const Cluster& cluster, MachineId id, int nic, LocalStage stage,
                                double brute_force) {
  const Machine& machine = cluster.machine(id);
  switch (stage) {
    case LocalStage::kReduce:
      return rooted(machine, {roots_of(cluster, id).front()}, false);
    case LocalStage::kReduceInTurn:
      return rooted(machine, roots_of(cluster, id), false);
    case LocalStage::kCpuAssisted: {
      std::vector<LocalMix> mix;
      if (brute_force < 1.0) mix.push_back({{by_switch(machine)}, 1.0 - brute_force});
      if (brute_force > 0.0) mix.push_back({{one_by_one(machine)}, brute_force});
      return mix;
    }
    case LocalStage::kGpuDirect:
      return rooted(machine, beside(machine, machine.nics[static_cast<std::size_t>(nic)]), true);
    case LocalStage::kApart: {
      std::vector<LocalMix> mix;
      for (const std::vector<int>& gpu : one_by_one(machine)) mix.push_back({{{gpu}}, 1.0});
      return mix;
    }
    case LocalStage::kAuto:
    case LocalStage::kReduceScatter:
      break;
  }
  return {{{{all_gpus(machine)}}, 1.0}};
}

LocalCandidates local_candidates(const Cluster& cluster, MachineId id) {
  const Machine& machine = cluster.machine(id);
  LocalCandidates found;
  if (machine.gpus.size() == 1) {
    found = {{LocalStage::kReduceScatter}, "one GPU has nothing to reduce"};
  } else {
    const std::vector<std::vector<int>> switches = by_switch(machine);
    const auto with_nic = std::count_if(switches.begin(), switches.end(), [&](const std::vector<int>& gpus) {
      const std::string& at = machine.gpus[static_cast<std::size_t>(gpus.front())].at;
      return std::any_of(machine.nics.begin(), machine.nics.end(),
                         [&](const Nic& nic) { return nic.at == at; });
    });
    const bool alike = with_nic == 0 || with_nic == static_cast<std::ptrdiff_t>(switches.size());
    if (!alike && machine.nvlink) {
      found = {{LocalStage::kReduceInTurn, LocalStage::kReduce, LocalStage::kReduceScatter},
               "a NIC shares its switch with GPUs, so other GPUs serve as roots"};
    } else if (machine.nvlink) {
      found = {{LocalStage::kReduceScatter, LocalStage::kReduceInTurn, LocalStage::kReduce},
               "all switches are alike, and GPUs exchange shards over NVLink"};
    } else if (switches.size() > 1) {
      found = {{LocalStage::kCpuAssisted, LocalStage::kReduceScatter},
               "without NVLink, GPUs of different switches are best summed by the CPU"};
    } else {
      found = {{LocalStage::kReduceScatter}, "all GPUs are under one switch"};
    }
    if (machine.nvlink && switches.size() > 1) found.stages.push_back(LocalStage::kCpuAssisted);
  }
  // Without NVLink, the root's link would also carry the whole reduction.
  const bool over_pcie = machine.gpus.size() > 1 && !machine.nvlink;
  if (direct_possible(machine) && !over_pcie) found.stages.push_back(LocalStage::kGpuDirect);
  return found;
}

}  // namespace weir
