#include "core/formats/nccl/nccl_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string_view>

#include "core/base/units_text.h"
#include "core/cluster/topology_file.h"
#include "core/formats/nccl/nccl_machine.h"

namespace weir {
namespace {

using nccl::text_of;

constexpr int kMostEqualMachines = 4096;
constexpr std::size_t kMostElements = 20'000;  // checks compare each with each

struct Rule {
  std::string_view name;
  std::string_view parents;  // with a space on either side of each
};
constexpr std::array<Rule, 11> kRules = {{{"system", ""},
                                          {"cpu", " system "},
                                          {"pci", " cpu pci "},
                                          {"gpu", " pci "},
                                          {"nvlink", " gpu "},
                                          {"c2c", " gpu "},
                                          {"nic", " cpu pci "},
                                          {"net", " nic "},
                                          {"gin", " nic "},
                                          {"rma", " nic "},
                                          {"pcilink", " pci "}}};

/// That elements stand where NCCL has them. New ones may come with new versions of NCCL.
void check_structure(const XmlElement& parent, Remarks& remarks) {
  for (const XmlElement& element : parent.children) {
    const auto* const rule =
        std::find_if(kRules.begin(), kRules.end(), [&](const Rule& one) { return one.name == element.name; });
    if (rule == kRules.end()) {
      remarks.assumed(element.line, fmt::format("<{}> in <{}> is not known: left out",
                                                element.name.substr(0, 40), parent.name));
    } else if (rule->parents.find(fmt::format(" {} ", parent.name)) == std::string_view::npos) {
      remarks.wrong(element.line,
                    fmt::format("<{}> stands in <{}>, where NCCL has none", element.name, parent.name));
    } else {
      check_structure(element, remarks);
    }
  }
}

std::size_t elements(const XmlElement& element) {
  std::size_t count = 1;
  for (const XmlElement& child : element.children) count += elements(child);
  return count;
}

struct Machines {
  std::vector<GroupSpec> specs;
  Duration latency;  // the longest of all NICs
  std::vector<std::string> warnings;
};

/// Whether NCCL wrote the file itself, in a job that gave GPUs their ranks.
bool dumped(const XmlElement& element) {
  return (element.name == "gpu" && element.find("rank") != nullptr) ||
         std::any_of(element.children.begin(), element.children.end(), dumped);
}

void tell_what_is_left_out(const XmlElement& system, const nccl::Unsaid& unsaid, const Machines& machines,
                           Remarks& remarks) {
  if (dumped(system)) {
    int gpus = 0;
    int nics = 0;
    for (const GroupSpec& spec : machines.specs) {
      gpus += gpu_count(spec);
      nics += nic_count(spec);
    }
    remarks.assumed(
        0, fmt::format("lists only what its job used, as NCCL does; GPUs: {}, NICs: {}", gpus, nics));
  }
  if (!unsaid.memory_rate) {
    remarks.assumed(0, "tells no rate of memories: unlimited, so they never bind; --memory-rate gives it");
  }
  if (!unsaid.sum_rate) {
    remarks.assumed(0, "tells no rate of summation: unlimited, so it never binds; --sum-rate gives it");
  }
}

Result<Machines> read_machines(const std::string& file, const nccl::Unsaid& unsaid) {
  const auto system = read_xml(file);
  if (!system) return tl::unexpected(system.error());
  if (system->name != "system") {
    return failure(fmt::format(
        "{}:{}: the outermost element is <{}>, and that of a topology <system>; try the file that "
        "NCCL_TOPO_DUMP_FILE names{}",
        file, system->line, system->name.substr(0, 40),
        system->name == "graphs" ? ", not that of NCCL_GRAPH_DUMP_FILE" : ""));
  }
  if (elements(*system) > kMostElements) {
    return failure(
        fmt::format("{}: more than {} elements; machines have a few hundred", file, kMostElements));
  }
  Remarks remarks(file);
  check_structure(*system, remarks);
  // Several hosts share a file where NVLink joins them.
  std::vector<std::pair<std::string_view, std::vector<const XmlElement*>>> hosts;
  for (const XmlElement& cpu : system->children) {
    if (cpu.name != "cpu") continue;
    const std::string_view host = text_of(cpu, "host_hash");
    const auto known =
        std::find_if(hosts.begin(), hosts.end(), [&](const auto& one) { return one.first == host; });
    (known == hosts.end() ? hosts.emplace_back(host, 0) : *known).second.push_back(&cpu);
  }
  if (hosts.empty()) remarks.wrong(system->line, "<system> holds no <cpu>, so no machine");
  if (hosts.size() > 1) {
    remarks.assumed(
        0, fmt::format("{} machines by host_hash; NVLink from one to another is left out", hosts.size()));
  }
  Machines machines;
  for (const auto& [host, cpus] : hosts) {
    nccl::MachineReader reader(unsaid, remarks);
    machines.specs.push_back(reader.read(cpus));
    machines.latency = std::max(machines.latency, reader.latency());
  }
  if (!remarks.good()) return tl::unexpected(remarks.error());
  tell_what_is_left_out(*system, unsaid, machines, remarks);
  machines.warnings = remarks.warnings();
  return machines;
}

/// "gpu" and "cpu", or "gpu-1", "gpu-2" where machines of a kind differ.
void name_groups(std::vector<GroupSpec>& groups) {
  const auto kind = [](const GroupSpec& group) { return gpu_count(group) > 0 ? "gpu" : "cpu"; };
  std::map<std::string, int> all;
  for (const GroupSpec& group : groups) ++all[kind(group)];
  std::map<std::string, int> named;
  for (GroupSpec& group : groups) {
    const std::string name = kind(group);
    group.name = all[name] == 1 ? name : fmt::format("{}-{}", name, ++named[name]);
  }
}

/// What check_topology would tell without the file.
Result<void> check_machines(const Topology& topology, const std::string& file) {
  int machines = 0;
  for (const GroupSpec& group : topology.groups) machines += group.count;
  for (const GroupSpec& group : topology.groups) {
    if (group.count > kMostEqualMachines) {
      return failure(fmt::format("{}: {} equal machines; a group has {} at most", file, group.count,
                                 kMostEqualMachines));
    }
    if (machines == 1 || nic_count(group) > 0) continue;
    return failure(
        fmt::format("{}: there is no NIC, and a machine among {} needs one; NCCL lists NICs where a job "
                    "spans machines; --nic-rate RATE adds one at numa0",
                    file, machines));
  }
  return {};
}

}  // namespace

Result<Imported> import_nccl(const NcclImport& what) {
  Imported imported;
  Topology& topology = imported.topology;
  Duration latency;
  for (const std::string& file : what.files) {
    auto machines = read_machines(file, what.unsaid);
    if (!machines) return tl::unexpected(machines.error());
    imported.warnings.insert(imported.warnings.end(), machines->warnings.begin(), machines->warnings.end());
    latency = std::max(latency, machines->latency);
    for (GroupSpec& spec : machines->specs) {
      spec.count = what.count;
      const auto same = std::find_if(topology.groups.begin(), topology.groups.end(), [&](GroupSpec group) {
        group.count = spec.count;
        return group == spec;
      });
      if (same == topology.groups.end()) {
        topology.groups.push_back(std::move(spec));
      } else {
        same->count += spec.count;
      }
    }
  }
  name_groups(topology.groups);
  if (const auto checked = check_machines(topology, what.files.front()); !checked)
    return tl::unexpected(checked.error());
  topology.name = what.name.empty() ? std::filesystem::path(what.files.front()).stem().string() : what.name;
  topology.source = fmt::format("NCCL's topology {}, with NCCL's own rates",
                                std::filesystem::path(what.files.front()).filename().string());
  if (latency == Duration(0)) {
    latency = nccl::kUsualLatency;
    if (!what.unsaid.latency) {
      imported.warnings.push_back(
          fmt::format("{}: tells no latency of the network: taken as {}; --latency gives "
                      "the real one",
                      what.files.front(), text(latency)));
    }
  }
  topology.network.latency = what.unsaid.latency.value_or(latency);
  if (const auto checked = check_topology(topology); !checked) return tl::unexpected(checked.error());
  return imported;
}

}  // namespace weir
