#include "core/cluster/topology_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/nearest.h"

namespace weir {
namespace {

// More machines would take gigabytes of memory before anything is planned.
constexpr std::int64_t kMostMachines = 16384;
constexpr std::int64_t kMostDevices = 200'000;
constexpr std::int64_t kMostInMachine = 512;  // each machine keeps a route for every pair

}  // namespace

TopologyCheck::TopologyCheck(const Topology& topology, const Value& document, std::string path,
                             Complaints& complaints)
    : topology_(topology), document_(document), path_(std::move(path)), complaints_(complaints) {}

void TopologyCheck::complain(const std::string& path, const std::string& text) {
  complaints_.add(located(document_, path), joined(path_, path), text);
}

void TopologyCheck::run() {
  std::set<std::string> names;
  std::int64_t machines = 0;
  std::int64_t devices = 0;
  for (const GroupSpec& group : topology_.groups) {
    machines += group.count;
    devices += std::int64_t{group.count} * (gpu_count(group) + nic_count(group));
  }
  if (machines == 0) complain("groups", "there is no machine; give a group a count above 0");
  if (machines > kMostMachines) {
    complain("groups", fmt::format("there are {} machines; at most {}", machines, kMostMachines));
  }
  if (devices > kMostDevices) {
    complain("groups", fmt::format("the machines have {} GPUs and NICs; at most {}", devices, kMostDevices));
  }
  for (std::size_t g = 0; g < topology_.groups.size(); ++g) {
    const GroupSpec& group = topology_.groups[g];
    const std::string path = joined("groups", g);
    if (!names.insert(group.name).second) {
      complain(path + ".name", fmt::format("two groups are called '{}'; rename one", group.name));
    }
    if (machines > 1 && group.count > 0 && nic_count(group) == 0) {
      complain(path, "each of several machines needs a NIC; add one to 'nics'");
    }
    check_group(group, path);
  }
  check_prices();
  check_racks();
  check_calibration();
}

void TopologyCheck::check_group(const GroupSpec& group, const std::string& path) {
  if (group.name.empty()) complain(path + ".name", "a group needs a name; try 'gpu' or 'cpu'");
  if (group.numa.empty())
    complain(path + ".numa", "a machine needs at least one NUMA node; remove 'numa' to get a default one");
  const auto numas = static_cast<int>(group.numa.size());
  const auto switches = static_cast<int>(group.switches.size());
  for (const auto& [key, count] :
       {std::pair("numa", numas), std::pair("switches", switches), std::pair("gpus", gpu_count(group)),
        std::pair("nics", nic_count(group))}) {
    if (count > kMostInMachine) {
      complain(joined(path, key),
               fmt::format("{} in one machine are too many; at most {}", count, kMostInMachine));
    }
  }
  for (std::size_t i = 0; i < group.numa.size(); ++i) {
    if (group.numa[i].sum_threads == 0 || group.numa[i].sum_rate_per_thread != SumRates()) continue;
    complain(joined(path + ".numa", i) + ".sum_threads",
             "has no effect without sum_rate_per_thread; add that, or remove this");
  }
  check_switches(group, path);
  check_places(group, path);
  check_sockets(group, path);
  check_nvlink(group, path);
}

void TopologyCheck::check_switches(const GroupSpec& group, const std::string& path) {
  std::set<std::string> names;
  for (std::size_t s = 0; s < group.switches.size(); ++s) {
    const SwitchSpec& spec = group.switches[s];
    const std::string own_path = joined(path + ".switches", s);
    if (spec.name.empty() || numa_named(spec.name) >= 0) {
      complain(own_path + ".name", fmt::format("'{}' cannot name a switch; try 'p{}'", spec.name, s));
    }
    if (!names.insert(spec.name).second) {
      complain(own_path + ".name", fmt::format("two switches are called '{}'; rename one", spec.name));
    }
    // Following 'at' upwards ends at a NUMA node. In a cycle it takes more steps than there are switches.
    const SwitchSpec* above = &spec;
    std::size_t steps = 0;
    while (above != nullptr && steps <= group.switches.size()) {
      const auto next = std::find_if(group.switches.begin(), group.switches.end(),
                                     [&](const SwitchSpec& other) { return other.name == above->at; });
      above = next == group.switches.end() ? nullptr : &*next;
      ++steps;
    }
    if (above != nullptr) {
      complain(own_path + ".at",
               fmt::format("the switches above '{}' form a cycle; attach one to a NUMA node", spec.name));
    }
  }
}

void TopologyCheck::check_places(const GroupSpec& group, const std::string& path) {
  for (std::size_t i = 0; i < group.switches.size(); ++i) {
    check_at(group, group.switches[i].at, joined(path + ".switches", i));
  }
  for (std::size_t i = 0; i < group.gpus.size(); ++i) {
    check_at(group, group.gpus[i].at, joined(path + ".gpus", i));
  }
  for (std::size_t i = 0; i < group.nics.size(); ++i) {
    const std::string place = joined(path + ".nics", i);
    check_at(group, group.nics[i].at, place);
    if (group.nics[i].rdma && group.nics[i].count > 1)
      complain(place + ".rdma",
               "a port belongs to one NIC, but 'count' is above 1; list the NICs one by one");
  }
}

void TopologyCheck::check_at(const GroupSpec& group, const std::string& at, const std::string& path) {
  const int numa = numa_named(at);
  if (numa >= 0 && numa < static_cast<int>(group.numa.size())) return;
  std::vector<std::string> places;
  for (std::size_t i = 0; i < group.numa.size(); ++i) places.push_back(fmt::format("numa{}", i));
  for (const SwitchSpec& spec : group.switches) {
    if (spec.name == at) return;
    places.push_back(spec.name);
  }
  complain(path + ".at",
           fmt::format("there is no '{}' in group '{}'; there are {}", at, group.name, quoted(places)));
}

bool TopologyCheck::check_pair(const std::vector<int>& pair, int count, const std::string& noun,
                               std::vector<std::vector<int>>& seen, const std::string& path) {
  const auto exists = [&](int i) { return i >= 0 && i < count; };
  if (pair.size() != 2 || !std::all_of(pair.begin(), pair.end(), exists) || pair[0] == pair[1]) {
    complain(path, count < 2
                       ? fmt::format("a link needs two {0}s, but the machine has {1}; remove it or add {0}s",
                                     noun, count)
                       : fmt::format("expected the numbers of two different {}s, 0 to {}", noun, count - 1));
    return false;
  }
  const std::vector<int> sorted = {std::min(pair[0], pair[1]), std::max(pair[0], pair[1])};
  if (std::find(seen.begin(), seen.end(), sorted) != seen.end()) {
    complain(path, fmt::format("{}s {} and {} are already joined; give one link with the sum of the rates",
                               noun, sorted[0], sorted[1]));
    return false;
  }
  seen.push_back(sorted);
  return true;
}

void TopologyCheck::check_sockets(const GroupSpec& group, const std::string& path) {
  const auto count = static_cast<int>(group.numa.size());
  std::vector<std::vector<int>> seen;
  std::vector<int> island(group.numa.size());  // NUMA nodes that reach each other share a number
  for (int i = 0; i < count; ++i) island[static_cast<std::size_t>(i)] = i;
  bool good = true;
  for (std::size_t s = 0; s < group.sockets.size(); ++s) {
    const std::vector<int>& between = group.sockets[s].between;
    if (!check_pair(between, count, "NUMA node", seen, joined(path + ".sockets", s) + ".between")) {
      good = false;
      continue;
    }
    const int from = island[static_cast<std::size_t>(between[0])];
    const int into = island[static_cast<std::size_t>(between[1])];
    std::replace(island.begin(), island.end(), from, into);
  }
  const auto apart = std::find_if(island.begin(), island.end(), [&](int i) { return i != island.front(); });
  if (good && apart != island.end()) {
    complain(path + ".sockets", fmt::format("nothing joins numa0 and numa{}; add {{\"between\": [0, {}]}}",
                                            apart - island.begin(), apart - island.begin()));
  }
}

void TopologyCheck::check_nvlink(const GroupSpec& group, const std::string& path) {
  if (!group.nvlink) return;
  if (group.nvlink->crossbar.has_value() == !group.nvlink->pairs.empty()) {
    complain(path + ".nvlink", "expected either 'switch' or 'pairs'");
  }
  std::vector<std::vector<int>> seen;
  for (std::size_t i = 0; i < group.nvlink->pairs.size(); ++i) {
    check_pair(group.nvlink->pairs[i].between, gpu_count(group), "GPU", seen,
               joined(path + ".nvlink.pairs", i) + ".between");
  }
}

void TopologyCheck::check_prices() {
  const GroupSpec* first = nullptr;
  for (std::size_t g = 0; g < topology_.groups.size(); ++g) {
    const GroupSpec& group = topology_.groups[g];
    if (!group.price) continue;
    if (first == nullptr) first = &group;
    if (group.price->currency() == first->price->currency()) continue;
    complain(joined("groups", g) + ".price",
             fmt::format("{} is in another currency than the {} of '{}'; convert one", text(*group.price),
                         text(*first->price), first->name));
  }
}

void TopologyCheck::check_calibration() {
  if (!topology_.calibration) return;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < topology_.calibration->values.size(); ++i) {
    const CalibratedValue& value = topology_.calibration->values[i];
    const std::string path = joined("calibration.values", i);
    if (!seen.insert(value.path).second)
      complain(path + ".path", fmt::format("'{}' occurs twice here; remove one", value.path));
    if (value.least_size > value.most_size)
      complain(path + ".least_size", "is larger than most_size; swap them");
  }
}

void TopologyCheck::check_racks() {
  if (!topology_.network.racks) return;
  if (topology_.network.racks->oversubscription.has_value() == topology_.network.racks->uplink.has_value()) {
    complain("network.racks", "expected either 'oversubscription' or 'uplink'");
  }
}

}  // namespace weir
