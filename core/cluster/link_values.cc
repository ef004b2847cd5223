#include "core/cluster/link_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/check.h"

namespace weir {
namespace {

/// Visits a group in the order in which MachineGraph makes its links.
class GroupLinks {
 public:
  explicit GroupLinks(const GroupSpec& group) : path_("groups." + group.name) {
    for (std::size_t i = 0; i < group.numa.size(); ++i)
      link(group.numa[i].memory_rate, fmt::format("numa.{}.memory_rate", i), "", Duration(0));
    for (std::size_t i = 0; i < group.sockets.size(); ++i) {
      const SocketSpec& socket = group.sockets[i];
      both({socket.rate.in, socket.rate.out}, fmt::format("sockets.{}", i), "rate", socket.latency);
    }
    for (std::size_t i = 0; i < group.switches.size(); ++i) {
      const SwitchSpec& spec = group.switches[i];
      const std::string own = fmt::format("switches.{}", i);
      link(spec.rate.out, own + ".rate", own + ".latency", spec.latency);
      link(spec.peer_rate.out, own + ".peer_rate", "", Duration(0));
      link(spec.rate.in, own + ".rate", own + ".latency", spec.latency);
      link(spec.peer_rate.in, own + ".peer_rate", "", Duration(0));
    }
    each(group.gpus, "gpus", [&](const GpuSpec& gpu, const std::string& own) {
      both({gpu.rate.out, gpu.rate.in}, own, "rate", gpu.latency);
    });
    if (group.nvlink) add_nvlink(group);
    each(group.nics, "nics", [&](const NicSpec& nic, const std::string& own) {
      both({nic.pcie.out, nic.pcie.in}, own, "pcie", Duration(0));
      links_.push_back({name(own + ".rate"), nic.latency > Duration(0) ? name(own + ".latency") : ""});
      links_.push_back(links_.back());
    });
  }

  // The link of the node's cores; these links come last.
  void add_sum(std::size_t numa) { links_.push_back({name(fmt::format("numa.{}.sum_rate", numa)), ""}); }

  std::vector<LinkValues>& links() { return links_; }
  std::vector<std::string>& without_links() { return without_links_; }

 private:
  std::string name(const std::string& inner) const { return path_ + "." + inner; }

  void link(BytesPerSecond rate, const std::string& value, const std::string& latency, Duration time) {
    const std::string late = time > Duration(0) ? name(latency) : "";
    if (rate.limited()) {
      links_.push_back({name(value), late});
    } else if (!late.empty() && (without_links_.empty() || without_links_.back() != late)) {
      without_links_.push_back(late);
    }
  }

  void both(const Rates& rates, const std::string& own, const char* value, Duration latency) {
    link(rates.in, own + "." + value, own + ".latency", latency);
    link(rates.out, own + "." + value, own + ".latency", latency);
  }

  template <class Spec, class Add>
  void each(const std::vector<Spec>& specs, const char* list, const Add& add) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      for (int copy = 0; copy < specs[i].count; ++copy) add(specs[i], fmt::format("{}.{}", list, i));
    }
  }

  void add_nvlink(const GroupSpec& group) {
    if (const auto& crossbar = group.nvlink->crossbar) {
      for (int gpu = 0; gpu < gpu_count(group); ++gpu)
        both({crossbar->rate.out, crossbar->rate.in}, "nvlink.switch", "rate", crossbar->latency);
    }
    for (std::size_t i = 0; i < group.nvlink->pairs.size(); ++i) {
      const NvlinkPairSpec& pair = group.nvlink->pairs[i];
      both({pair.rate.out, pair.rate.in}, fmt::format("nvlink.pairs.{}", i), "rate", pair.latency);
    }
  }

  std::string path_;
  std::vector<LinkValues> links_;
  std::vector<std::string> without_links_;
};

// The NUMA node of a link of cores: "gpu[3].numa1 sum".
std::size_t numa_of(const Machine& machine, const Link& link) {
  for (std::size_t i = 0; i < machine.numas.size(); ++i) {
    if (link.name == fmt::format("{}.{} sum", machine.name, machine.numas[i].name)) return i;
  }
  WEIR_CHECK(false, link.name);
  return 0;
}

}  // namespace

std::vector<LinkValues> link_values(const Topology& topology, const Cluster& cluster) {
  std::vector<LinkValues> all;
  const std::vector<Link>& links = cluster.links();
  for (std::size_t i = 0; i < cluster.machines().size(); ++i) {
    const MachineId id(i);
    const Machine& machine = cluster.machine(id);
    const auto group = std::find_if(topology.groups.begin(), topology.groups.end(),
                                    [&](const GroupSpec& spec) { return spec.name == machine.group; });
    WEIR_CHECK(group != topology.groups.end(), machine.name);
    GroupLinks own(*group);
    for (std::size_t at = all.size() + own.links().size(); at < links.size(); ++at) {
      if (links[at].kind != Link::Kind::kSum || links[at].machine != id) break;
      own.add_sum(numa_of(machine, links[at]));
    }
    all.insert(all.end(), own.links().begin(), own.links().end());
  }
  while (all.size() < links.size()) {
    WEIR_CHECK(links[all.size()].kind == Link::Kind::kRack, links[all.size()].name);
    const RacksSpec& racks = *topology.network.racks;
    all.push_back({racks.uplink ? "network.racks.uplink" : "network.racks.oversubscription",
                   racks.latency > Duration(0) ? "network.racks.latency" : ""});
  }
  WEIR_CHECK(all.size() == links.size(), all.size(), links.size());
  return all;
}

std::vector<std::string> latencies_without_links(const GroupSpec& group) {
  return std::move(GroupLinks(group).without_links());
}

}  // namespace weir
