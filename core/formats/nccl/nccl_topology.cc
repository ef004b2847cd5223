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
constexpr std::size_t kMostElements = 20'000;  // checks compare every pair

struct Rule {
  std::string_view name;
  std::string_view parents;  // each between two spaces
};
constexpr std::array<Rule, 12> kRules = {{{"system", ""},
                                          {"cpu", " system "},
                                          {"pci", " cpu pci "},
                                          {"gpu", " pci "},
                                          {"nvlink", " gpu "},
                                          {"xgmi", " gpu "},
                                          {"c2c", " gpu "},
                                          {"nic", " cpu pci "},
                                          {"net", " nic "},
                                          {"gin", " nic "},
                                          {"rma", " nic "},
                                          {"pcilink", " pci "}}};

/// Checks that elements are where NCCL puts them. New versions of NCCL may add elements.
void check_structure(const XmlElement& parent, Remarks& remarks) {
  for (const XmlElement& element : parent.children) {
    const auto* const rule =
        std::find_if(kRules.begin(), kRules.end(), [&](const Rule& one) { return one.name == element.name; });
    if (rule == kRules.end()) {
      remarks.assumed(element.line, fmt::format("<{}> in <{}> is unknown: left out",
                                                element.name.substr(0, 40), parent.name));
    } else if (rule->parents.find(fmt::format(" {} ", parent.name)) == std::string_view::npos) {
      remarks.wrong(element.line,
                    fmt::format("<{}> is inside <{}>, where NCCL has none", element.name, parent.name));
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

/// Whether NCCL itself wrote the file, in a job that assigned ranks to GPUs.
bool dumped(const XmlElement& element) {
  return (element.name == "gpu" && element.find("rank") != nullptr) ||
         std::any_of(element.children.begin(), element.children.end(), dumped);
}

void report_omissions(const XmlElement& system, const nccl::UserValues& user_values, const Machines& machines,
                      Remarks& remarks) {
  if (dumped(system)) {
    int gpus = 0;
    int nics = 0;
    for (const GroupSpec& spec : machines.specs) {
      gpus += gpu_count(spec);
      nics += nic_count(spec);
    }
    remarks.assumed(0, fmt::format("lists only what NCCL's job used; GPUs: {}, NICs: {}", gpus, nics));
  }
  if (!user_values.memory_rate) {
    remarks.assumed(0, "has no memory rate: assumed unlimited; set it with --memory-rate");
  }
  if (!user_values.sum_rate) {
    remarks.assumed(0, "has no sum rate: assumed unlimited; set it with --sum-rate");
  }
}

Result<Machines> read_machines(const std::string& file, const nccl::UserValues& user_values) {
  const auto system = read_xml(file);
  if (!system) return tl::unexpected(system.error());
  if (system->name != "system") {
    return failure(fmt::format(
        "{}:{}: the outermost element is <{}>; expected <system>, as in a topology; try the file of "
        "NCCL_TOPO_DUMP_FILE{}",
        file, system->line, system->name.substr(0, 40),
        system->name == "graphs" ? ", not that of NCCL_GRAPH_DUMP_FILE" : ""));
  }
  if (elements(*system) > kMostElements) {
    return failure(
        fmt::format("{}: more than {} elements; machines have a few hundred", file, kMostElements));
  }
  Remarks remarks(file);
  check_structure(*system, remarks);
  // Several hosts share a file if NVLink joins them.
  std::vector<std::pair<std::string_view, std::vector<const XmlElement*>>> hosts;
  for (const XmlElement& cpu : system->children) {
    if (cpu.name != "cpu") continue;
    const std::string_view host = text_of(cpu, "host_hash");
    const auto known =
        std::find_if(hosts.begin(), hosts.end(), [&](const auto& one) { return one.first == host; });
    (known == hosts.end() ? hosts.emplace_back(host, 0) : *known).second.push_back(&cpu);
  }
  if (hosts.empty()) remarks.wrong(system->line, "<system> has no <cpu>, so there is no machine");
  if (hosts.size() > 1) {
    remarks.assumed(
        0, fmt::format("{} machines by host_hash; NVLink between machines is left out", hosts.size()));
  }
  Machines machines;
  for (const auto& [host, cpus] : hosts) {
    nccl::MachineReader reader(user_values, remarks);
    machines.specs.push_back(reader.read(cpus));
    machines.latency = std::max(machines.latency, reader.latency());
  }
  if (!remarks.good()) return tl::unexpected(remarks.error());
  report_omissions(*system, user_values, machines, remarks);
  machines.warnings = remarks.warnings();
  return machines;
}

/// Names groups "gpu" and "cpu", or "gpu-1", "gpu-2" if machines of a kind differ.
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

/// Checks what check_topology checks too, but with an error that names the file.
Result<void> check_machines(const Topology& topology, const std::string& file) {
  int machines = 0;
  for (const GroupSpec& group : topology.groups) machines += group.count;
  for (const GroupSpec& group : topology.groups) {
    if (group.count > kMostEqualMachines) {
      return failure(fmt::format("{}: {} equal machines; a group can have at most {}", file, group.count,
                                 kMostEqualMachines));
    }
    if (machines == 1 || nic_count(group) > 0) continue;
    return failure(
        fmt::format("{}: there is no NIC, but each of {} machines needs one; NCCL lists NICs if a job spans "
                    "machines; --nic-rate RATE adds one at numa0",
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
    auto machines = read_machines(file, what.user_values);
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
    if (!what.user_values.latency) {
      imported.warnings.push_back(fmt::format("{}: has no network latency: assumed {}; set it with --latency",
                                              what.files.front(), text(latency)));
    }
  }
  topology.network.latency = what.user_values.latency.value_or(latency);
  if (const auto checked = check_topology(topology); !checked) return tl::unexpected(checked.error());
  return imported;
}

}  // namespace weir
