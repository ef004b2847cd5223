#include "core/cluster/subcluster.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "core/base/check.h"

namespace weir {
namespace {

// Whether the name matches the pattern.
bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (name.substr(0, star) != pattern.substr(0, star)) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t i = star; i <= name.size(); ++i) {
    if (matches(rest, name.substr(i))) return true;
  }
  return false;
}

template <class Id, class Named>
std::vector<Id> named(const std::string& pattern, const std::vector<Named>& all) {
  std::vector<Id> found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (matches(pattern, all[i].name)) found.emplace_back(i);
  }
  return found;
}

std::vector<MachineId> all_machines(const Cluster& cluster) {
  std::vector<MachineId> all;
  for (std::size_t i = 0; i < cluster.machines().size(); ++i) all.emplace_back(i);
  return all;
}

}  // namespace

Subcluster::Subcluster(const Cluster& whole, std::vector<MachineId> chosen)
    : cluster(whole), machines(std::move(chosen)) {
  WEIR_CHECK(!machines.empty() && std::is_sorted(machines.begin(), machines.end()), machines.size());
  std::vector<LinkId> own(whole.links_.size(), LinkId::none());  // from ids in the whole to ids in the part
  cluster.links_.clear();
  const auto take = [&](std::size_t link, MachineId machine) {
    own[link] = LinkId(links.size());
    links.emplace_back(link);
    cluster.links_.push_back(whole.links_[link]);
    cluster.links_.back().machine = machine;
  };
  const auto here = [&](LinkId link) { return link.valid() ? own[link.index()] : link; };
  cluster.machines_.clear();
  cluster.gpu_machines_.clear();
  cluster.cpu_machines_.clear();
  cluster.group_.clear();
  cluster.first_link_.clear();
  for (const MachineId id : machines) {
    const MachineId machine(cluster.machines_.size());
    cluster.first_link_.push_back(links.size());
    const std::size_t first = whole.first_link_[id.index()];
    for (std::size_t i = 0; i < whole.table(id).links().size(); ++i) take(first + i, machine);
    cluster.group_.push_back(whole.group_[id.index()]);
    cluster.machines_.push_back(whole.machine(id));
    for (Numa& numa : cluster.machines_.back().numas) {
      numa.bus = here(numa.bus);
      for (auto& [rate, link] : numa.sums) link = here(link);
    }
    for (Nic& nic : cluster.machines_.back().nics) {
      nic.out = here(nic.out);
      nic.in = here(nic.in);
    }
    (whole.machine(id).has_gpus() ? cluster.gpu_machines_ : cluster.cpu_machines_).push_back(machine);
  }
  for (std::size_t i = 0; i < whole.links_.size(); ++i) {
    if (!whole.links_[i].machine.valid()) take(i, MachineId::none());
  }
  for (Cluster::Rack& rack : cluster.racks_) rack = {here(rack.up), here(rack.down)};
  // Machines of one class in the whole are of one class in the part if their racks still hold equally many
  // machines of each class.
  std::map<int, std::map<int, int>> contents;
  for (const MachineId id : machines) ++contents[whole.machine(id).rack][whole.machine_class(id)];
  std::map<std::pair<int, std::map<int, int>>, int> classes;
  cluster.machine_class_.clear();
  for (const MachineId id : machines) {
    const auto next = static_cast<int>(classes.size());
    const std::pair kind(whole.machine_class(id), contents[whole.machine(id).rack]);
    cluster.machine_class_.push_back(classes.try_emplace(kind, next).first->second);
  }
}

Subcluster::Subcluster(const Cluster& whole) : Subcluster(whole, all_machines(whole)) {}

std::vector<MachineId> machines_named(const std::string& pattern, const Cluster& cluster) {
  return named<MachineId>(pattern, cluster.machines());
}

std::vector<MachineId> machines_named(const std::vector<std::string>& patterns, const Cluster& cluster) {
  std::vector<MachineId> found;
  for (const std::string& pattern : patterns) {
    const std::vector<MachineId> more = machines_named(pattern, cluster);
    found.insert(found.end(), more.begin(), more.end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<LinkId> links_named(const std::string& pattern, const Cluster& cluster) {
  return named<LinkId>(pattern, cluster.links());
}

}  // namespace weir
