// Loads the exported platform of a topology with SimGrid. For every two memories it compares SimGrid's route
// with the cluster's: links, rates and latency must be the same. SimGrid allows one engine in a process, so
// each topology needs its own process: simgrid_routes TOPOLOGY PLATFORM.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/cluster/topology_file.h"
#include "core/formats/simgrid.h"

namespace weir {
namespace {

struct End {
  MachineId machine;
  Memory memory;
  std::string name;
};

std::vector<End> ends(const Cluster& cluster) {
  std::vector<End> all;
  for (std::size_t m = 0; m < cluster.machines().size(); ++m) {
    const Machine& machine = cluster.machine(MachineId(m));
    for (std::size_t i = 0; i < machine.numas.size(); ++i) {
      all.push_back(
          {MachineId(m), Memory::host(static_cast<int>(i)), fmt::format("{}.numa{}", machine.name, i)});
    }
    for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
      all.push_back(
          {MachineId(m), Memory::gpu(static_cast<int>(i)), fmt::format("{}.gpu{}", machine.name, i)});
    }
  }
  return all;
}

Route route(const Cluster& cluster, const End& from, const End& into) {
  if (from.machine == into.machine) return cluster.route(from.machine, from.memory, into.memory);
  return cluster.route(from.machine, from.memory, platform_nic(cluster, from.machine, from.memory),
                       into.machine, into.memory, platform_nic(cluster, into.machine, into.memory));
}

std::string text(const Cluster& cluster, const Route& route) {
  std::string text = fmt::format("{} ns:", route.latency.ns());
  for (const LinkId id : route.links) {
    text += fmt::format(" {}@{}", cluster.link(id).name, cluster.link(id).rate.value());
  }
  return text;
}

std::string simgrid_text(const std::string& from, const std::string& into) {
  std::vector<simgrid::s4u::Link*> links;
  double latency = 0;
  simgrid::s4u::Host::by_name(from)->route_to(simgrid::s4u::Host::by_name(into), links, &latency);
  std::string text = fmt::format("{} ns:", std::llround(latency * 1e9));
  for (const simgrid::s4u::Link* link : links) {
    if (link->get_sharing_policy() == simgrid::s4u::Link::SharingPolicy::FATPIPE) continue;
    text += fmt::format(" {}@{}", link->get_cname(), std::llround(link->get_bandwidth()));
  }
  return text;
}

int compare(const std::string& file, const std::string& platform) {
  const auto topology = read_topology(file);
  if (!topology) {
    fmt::print("{}\n", topology.error().text);
    return 1;
  }
  const auto exported = simgrid_platform(*topology);
  std::ofstream(platform) << *exported;
  const simgrid::s4u::Engine engine("simgrid_routes");
  engine.load_platform(platform);

  const Cluster cluster(*topology);
  std::size_t compared = 0;
  for (const End& from : ends(cluster)) {
    for (const End& into : ends(cluster)) {
      const std::string ours = text(cluster, route(cluster, from, into));
      if (from.name == into.name && ours == "0 ns:") continue;  // SimGrid has its own loopback
      const std::string theirs = simgrid_text(from.name, into.name);
      if (theirs != ours) {
        fmt::print("{} to {}:\n  cluster {}\n  SimGrid {}\n", from.name, into.name, ours, theirs);
        return 1;
      }
      ++compared;
    }
  }
  fmt::print("{} routes are the same\n", compared);
  return compared == 0 ? 1 : 0;
}

}  // namespace
}  // namespace weir

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: simgrid_routes TOPOLOGY PLATFORM.xml\n");
    return 2;
  }
  return weir::compare(argv[1], argv[2]);
}
