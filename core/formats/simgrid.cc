#include "core/formats/simgrid.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/base/check.h"
#include "core/base/units_text.h"
#include "core/cluster/route_table.h"
#include "core/formats/xml.h"

namespace weir {
namespace {

constexpr std::size_t kMostMachines = 512;  // a route for each pair: 262144

/// The links of one zone that add latency to routes and limit no rate.
class Delays {
 public:
  explicit Delays(std::string prefix) : prefix_(std::move(prefix)) {}

  std::string name(Duration delay) {
    known_.insert(delay);
    return fmt::format("{}delay.{}ns", prefix_, delay.ns());
  }

  std::string links(const char* margin) const {
    std::string text;
    for (const Duration delay : known_) {
      text += fmt::format(
          "{0}<link id=\"{1}delay.{2}ns\" bandwidth=\"1e18Bps\" latency=\"{2}ns\" "
          "sharing_policy=\"FATPIPE\"/>\n",
          margin, xml_escaped(prefix_), delay.ns());
    }
    return text;
  }

 private:
  std::string prefix_;
  std::set<Duration> known_;
};

class PlatformWriter {
 public:
  explicit PlatformWriter(const Topology& topology) : topology_(topology), cluster_(topology) {
    for (const GroupSpec& group : topology.groups) {
      const RouteTable table(group);
      for (int i = 0; i < group.count; ++i) groups_.push_back(tables_.size());
      tables_.push_back(table);
    }
  }

  std::string platform() const;

 private:
  const RouteTable& table(MachineId machine) const { return tables_[groups_[machine.index()]]; }
  bool alone() const { return cluster_.machines().size() == 1; }

  std::vector<Memory> memories(MachineId machine) const;
  std::string host(MachineId machine, Memory memory) const;
  std::string router(MachineId machine) const { return cluster_.machine(machine).name + ".network"; }

  std::string links_of(MachineId machine, const char* margin) const;
  std::string hosts(MachineId machine) const;
  std::string zone(MachineId machine) const;
  std::string zone_route(MachineId from, MachineId into, Delays& delays) const;

  const Topology& topology_;
  Cluster cluster_;
  std::vector<RouteTable> tables_;   // of each group
  std::vector<std::size_t> groups_;  // of each machine
};

/// The links in order, and a delay link for the latency beyond theirs.
std::string crossing(const std::vector<Link>& links, Duration latency, Delays& delays, const char* margin) {
  std::string text;
  for (const Link& link : links) {
    text += fmt::format("{}<link_ctn id=\"{}\"/>\n", margin, xml_escaped(link.name));
    latency = latency - link.latency;
  }
  WEIR_CHECK(latency >= Duration(0), latency.ns());
  if (links.empty() || latency > Duration(0)) {
    text += fmt::format("{}<link_ctn id=\"{}\"/>\n", margin, xml_escaped(delays.name(latency)));
  }
  return text;
}

std::vector<Memory> PlatformWriter::memories(MachineId machine) const {
  std::vector<Memory> all;
  const Machine& spec = cluster_.machine(machine);
  for (std::size_t i = 0; i < spec.numas.size(); ++i) all.push_back(Memory::host(static_cast<int>(i)));
  for (std::size_t i = 0; i < spec.gpus.size(); ++i) all.push_back(Memory::gpu(static_cast<int>(i)));
  return all;
}

std::string PlatformWriter::host(MachineId machine, Memory memory) const {
  const Machine& spec = cluster_.machine(machine);
  const auto index = static_cast<std::size_t>(memory.index);
  const std::string& name =
      memory.kind == Memory::Kind::kHost ? spec.numas[index].name : spec.gpus[index].name;
  return fmt::format("{}.{}", spec.name, name);
}

std::string PlatformWriter::links_of(MachineId machine, const char* margin) const {
  std::string text;
  for (const Link& link : cluster_.links()) {
    if (link.machine != machine || !link.rate.limited() || link.kind == Link::Kind::kSum) continue;
    text += fmt::format("{}<link id=\"{}\" bandwidth=\"{}Bps\" latency=\"{}ns\"/>\n", margin,
                        xml_escaped(link.name), link.rate.value(), link.latency.ns());
  }
  return text;
}

std::string PlatformWriter::hosts(MachineId machine) const {
  const Machine& spec = cluster_.machine(machine);
  std::string text;
  for (const Memory memory : memories(machine)) {
    // Weir knows the times of layers, not their numbers of operations. So the trace's GPU counts as 1
    // Tflop/s.
    const bool gpu = memory.kind == Memory::Kind::kGpu;
    const auto index = static_cast<std::size_t>(memory.index);
    text += fmt::format("    <host id=\"{}\" speed=\"{}Gf\" core=\"{}\"/>\n",
                        xml_escaped(host(machine, memory)), gpu ? 1000 * spec.gpus[index].speed : 1.0,
                        gpu ? 1 : std::max(1, spec.numas[index].cores));
  }
  if (!alone()) text += fmt::format("    <router id=\"{}\"/>\n", xml_escaped(router(machine)));
  return text;
}

std::string PlatformWriter::zone(MachineId machine) const {
  const std::string& name = cluster_.machine(machine).name;
  Delays delays(name + ".");
  std::string routes;
  const auto add = [&](const std::string& from, const std::string& into, const Route& local) {
    std::vector<Link> links;
    for (const LinkId id : local.links) {
      Link& link = links.emplace_back(table(machine).links()[id.index()]);
      link.name = fmt::format("{}.{}", name, link.name);
    }
    routes +=
        fmt::format("    <route src=\"{}\" dst=\"{}\" symmetrical=\"NO\">\n{}    </route>\n",
                    xml_escaped(from), xml_escaped(into), crossing(links, local.latency, delays, "      "));
  };
  for (const Memory from : memories(machine)) {
    for (const Memory into : memories(machine)) {
      const Route& local = table(machine).between(from, into);
      if (from == into && local.links.empty()) continue;  // SimGrid has its own loopback
      add(host(machine, from), host(machine, into), local);
    }
    if (alone()) continue;
    const int nic = platform_nic(cluster_, machine, from);
    add(host(machine, from), router(machine), table(machine).out(from, nic));
    add(router(machine), host(machine, from), table(machine).in(nic, from));
  }
  return fmt::format("  <zone id=\"{}\" routing=\"Full\">\n{}{}{}{}  </zone>\n", xml_escaped(name),
                     hosts(machine), links_of(machine, "    "), delays.links("    "), routes);
}

std::string PlatformWriter::zone_route(MachineId from, MachineId into, Delays& delays) const {
  const Memory memory = Memory::host(0);
  const Route whole = cluster_.route(from, memory, 0, into, memory, 0);
  std::vector<Link> links;
  for (const LinkId id : whole.links) {
    if (!cluster_.link(id).machine.valid()) links.push_back(cluster_.link(id));
  }
  const Duration latency =
      whole.latency - table(from).out(memory, 0).latency - table(into).in(0, memory).latency;
  return fmt::format(
      "  <zoneRoute src=\"{}\" dst=\"{}\" gw_src=\"{}\" gw_dst=\"{}\" symmetrical=\"NO\">\n{}  "
      "</zoneRoute>\n",
      xml_escaped(cluster_.machine(from).name), xml_escaped(cluster_.machine(into).name),
      xml_escaped(router(from)), xml_escaped(router(into)), crossing(links, latency, delays, "    "));
}

std::string PlatformWriter::platform() const {
  std::string zones;
  for (std::size_t m = 0; m < cluster_.machines().size(); ++m) zones += zone(MachineId(m));
  Delays delays("");
  std::string routes;
  for (std::size_t from = 0; from < cluster_.machines().size(); ++from) {
    for (std::size_t into = 0; into < cluster_.machines().size(); ++into) {
      if (from != into) routes += zone_route(MachineId(from), MachineId(into), delays);
    }
  }
  // SimGrid's defaults modify rates and latencies; with these settings it uses both as written. Its parser
  // expects zones before links.
  return fmt::format(
      "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\">\n"
      "  <config>\n    <prop id=\"network/model\" value=\"CM02\"/>\n"
      "    <prop id=\"network/crosstraffic\" value=\"0\"/>\n    <prop id=\"network/TCP-gamma\" "
      "value=\"0\"/>\n"
      "  </config>\n  <zone id=\"{}\" routing=\"Full\">\n{}{}{}{}  </zone>\n</platform>\n",
      xml_escaped(topology_.name), zones, links_of(MachineId::none(), "  "), delays.links("  "), routes);
}

}  // namespace

int platform_nic(const Cluster& cluster, MachineId machine, Memory memory) {
  const std::vector<int> nearest = cluster.nearest_nics(machine, memory);
  WEIR_CHECK(!nearest.empty(), machine);
  return nearest[static_cast<std::size_t>(memory.index) % nearest.size()];
}

Result<std::string> simgrid_platform(const Topology& topology) {
  std::size_t machines = 0;
  for (const GroupSpec& group : topology.groups) machines += static_cast<std::size_t>(group.count);
  if (machines > kMostMachines) {
    return failure(fmt::format(
        "{} machines are too many for SimGrid's full routes; reduce the counts of groups to at most "
        "{} machines",
        machines, kMostMachines));
  }
  return PlatformWriter(topology).platform();
}

}  // namespace weir
