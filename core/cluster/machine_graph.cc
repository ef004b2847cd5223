#include "core/cluster/machine_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "core/base/check.h"

namespace weir {

MachineGraph::MachineGraph(const GroupSpec& group) {
  add_numas(group);
  add_switches(group);
  add_gpus(group);
  if (group.nvlink) add_nvlink(*group.nvlink);
  add_nics(group);
  add_cores();
  for (std::vector<Edge>& edges : edges_) {
    std::stable_sort(edges.begin(), edges.end(),
                     [](const Edge& a, const Edge& b) { return a.into < b.into; });
  }
}

void MachineGraph::add_numas(const GroupSpec& group) {
  for (std::size_t i = 0; i < group.numa.size(); ++i) {
    add_vertex(/*forwards=*/true);
    const NumaSpec& spec = group.numa[i];
    const BytesPerSecond rate = spec.memory_rate;
    Numa numa{fmt::format("numa{}", i), spec.memory, sum_rates(spec), spec.cores, {}, {}};
    if (rate.limited()) numa.bus = add_link(numa.name + ".bus", Link::Kind::kMemory, rate, Duration(0));
    numas_.push_back(std::move(numa));
  }
  for (const SocketSpec& socket : group.sockets) {
    const auto a = static_cast<std::size_t>(socket.between[0]);
    const auto b = static_cast<std::size_t>(socket.between[1]);
    const auto add = [&](std::size_t from, std::size_t into, BytesPerSecond rate) {
      add_edge(from, into, fmt::format("socket{}-{}", from, into), Link::Kind::kSocket, rate, socket.latency);
    };
    add(a, b, socket.rate.out);
    add(b, a, socket.rate.in);
  }
}

void MachineGraph::add_switches(const GroupSpec& group) {
  for (std::size_t i = 0; i < group.switches.size(); ++i) add_vertex(/*forwards=*/true);
  for (const SwitchSpec& spec : group.switches) {
    const std::size_t own = place(group, spec.name);
    const std::size_t above = place(group, spec.at);
    const auto add = [&](std::size_t from, std::size_t into, const char* way, BytesPerSecond rate,
                         BytesPerSecond peer_rate) {
      const std::string name = fmt::format("{}.{}", spec.name, way);
      Edge& edge = add_edge(from, into, name, Link::Kind::kPcie, rate, spec.latency);
      edge.peer_rate = peer_rate;
      if (!peer_rate.limited()) return;
      edge.peer_link =
          add_link(fmt::format("{}.peer.{}", spec.name, way), Link::Kind::kPcie, peer_rate, Duration(0));
    };
    add(own, above, "up", spec.rate.out, spec.peer_rate.out);
    add(above, own, "down", spec.rate.in, spec.peer_rate.in);
  }
}

void MachineGraph::add_gpus(const GroupSpec& group) {
  first_gpu_ = edges_.size();
  std::size_t number = 0;
  for (const GpuSpec& spec : group.gpus) {
    const std::size_t above = place(group, spec.at);
    for (int i = 0; i < spec.count; ++i, ++number) {
      const std::size_t own = add_vertex(/*forwards=*/false);
      add_edge(own, above, fmt::format("gpu{}.up", number), Link::Kind::kPcie, spec.rate.out, spec.latency);
      add_edge(above, own, fmt::format("gpu{}.down", number), Link::Kind::kPcie, spec.rate.in, spec.latency);
    }
  }
}

void MachineGraph::add_nvlink(const NvlinkSpec& nvlink) {
  const std::size_t gpus = edges_.size() - first_gpu_;
  constexpr auto kKind = Link::Kind::kNvlink;
  if (nvlink.crossbar) {
    const NvlinkSwitchSpec& spec = *nvlink.crossbar;
    const std::size_t crossbar = add_vertex(/*forwards=*/true);
    for (std::size_t i = 0; i < gpus; ++i) {
      add_edge(gpu(i), crossbar, fmt::format("gpu{}.nvlink.out", i), kKind, spec.rate.out, spec.latency);
      add_edge(crossbar, gpu(i), fmt::format("gpu{}.nvlink.in", i), kKind, spec.rate.in, spec.latency);
    }
  }
  for (const NvlinkPairSpec& pair : nvlink.pairs) {
    const auto a = static_cast<std::size_t>(pair.between[0]);
    const auto b = static_cast<std::size_t>(pair.between[1]);
    add_edge(gpu(a), gpu(b), fmt::format("nvlink{}-{}", a, b), kKind, pair.rate.out, pair.latency);
    add_edge(gpu(b), gpu(a), fmt::format("nvlink{}-{}", b, a), kKind, pair.rate.in, pair.latency);
  }
}

void MachineGraph::add_nics(const GroupSpec& group) {
  first_nic_ = edges_.size();
  std::size_t number = 0;
  for (const NicSpec& spec : group.nics) {
    const std::size_t above = place(group, spec.at);
    for (int i = 0; i < spec.count; ++i, ++number) {
      Nic nic;
      nic.name = fmt::format("nic{}", number);
      nic.at = spec.at;
      nic.numa = numa_above(group, spec.at);
      const std::size_t own = add_vertex(/*forwards=*/false);
      add_edge(above, own, nic.name + ".pcie.out", Link::Kind::kPcie, spec.pcie.out, Duration(0));
      add_edge(own, above, nic.name + ".pcie.in", Link::Kind::kPcie, spec.pcie.in, Duration(0));
      nic.out = add_link(nic.name + ".out", Link::Kind::kNic, spec.rate.out, spec.latency);
      nic.in = add_link(nic.name + ".in", Link::Kind::kNic, spec.rate.in, spec.latency);
      nics_.push_back(std::move(nic));
    }
  }
}

void MachineGraph::add_cores() {
  for (Numa& numa : numas_) {
    const auto add = [&](BytesPerSecond rate) {
      if (!rate.limited() || numa.sums.contains(rate)) return;
      numa.sums[rate] = add_link(numa.name + " sum", Link::Kind::kSum, rate, Duration(0));
    };
    for (const auto& [dtype, rate] : numa.sum_rate.by_dtype) add(rate);
    add(numa.sum_rate.other);
  }
}

std::size_t MachineGraph::add_vertex(bool forwards) {
  edges_.emplace_back();
  forwards_.push_back(forwards);
  return edges_.size() - 1;
}

/// The vertex of the NUMA node or switch with this name.
std::size_t MachineGraph::place(const GroupSpec& group, std::string_view at) const {
  if (const int numa = numa_named(at); numa >= 0) return static_cast<std::size_t>(numa);
  const auto found = std::find_if(group.switches.begin(), group.switches.end(),
                                  [&](const SwitchSpec& spec) { return spec.name == at; });
  WEIR_CHECK(found != group.switches.end(), group.name, at);
  return group.numa.size() + static_cast<std::size_t>(found - group.switches.begin());
}

LinkId MachineGraph::add_link(std::string name, Link::Kind kind, BytesPerSecond rate, Duration latency) {
  links_.push_back({std::move(name), kind, rate, latency, MachineId::none()});
  return LinkId(links_.size() - 1);
}

MachineGraph::Edge& MachineGraph::add_edge(std::size_t from, std::size_t into, const std::string& name,
                                           Link::Kind kind, BytesPerSecond rate, Duration latency) {
  Edge edge;
  edge.into = into;
  edge.link = rate.limited() ? add_link(name, kind, rate, latency) : LinkId::none();
  edge.rate = rate;
  edge.peer_rate = BytesPerSecond::unlimited();
  edge.latency = latency;
  return edges_[from].emplace_back(edge);
}

/// The rate of the widest path, by a variant of Dijkstra's algorithm; zero if there is no path.
BytesPerSecond MachineGraph::bottleneck(std::size_t from, std::size_t into, bool peer) const {
  std::vector<BytesPerSecond> widest(edges_.size());
  std::vector<bool> done(edges_.size());
  widest[from] = BytesPerSecond::unlimited();
  while (true) {
    std::size_t next = edges_.size();
    for (std::size_t v = 0; v < edges_.size(); ++v) {
      if (done[v] || widest[v].value() == 0) continue;
      if (next == edges_.size() || widest[v] > widest[next]) next = v;
    }
    if (next == edges_.size() || next == into) return widest[into];
    done[next] = true;
    if (next != from && !forwards_[next]) continue;
    for (const Edge& edge : edges_[next]) {
      widest[edge.into] = std::max(widest[edge.into], std::min(widest[next], edge.rate_for(peer)));
    }
  }
}

MachineGraph::Path MachineGraph::path(std::size_t from, std::size_t into) const {
  const bool peer = from >= first_gpu_ && into >= first_gpu_;
  const BytesPerSecond least = bottleneck(from, into, peer);
  WEIR_CHECK(least.value() > 0, from, into);
  // Breadth-first search over the edges that are wide enough, lowest vertices first.
  std::vector<const Edge*> arrival(edges_.size());
  std::vector<std::size_t> parent(edges_.size(), edges_.size());
  std::deque<std::size_t> waiting = {from};
  parent[from] = from;
  while (!waiting.empty() && parent[into] == edges_.size()) {
    const std::size_t at = waiting.front();
    waiting.pop_front();
    if (at != from && !forwards_[at]) continue;
    for (const Edge& edge : edges_[at]) {
      if (parent[edge.into] != edges_.size() || edge.rate_for(peer) < least) continue;
      parent[edge.into] = at;
      arrival[edge.into] = &edge;
      waiting.push_back(edge.into);
    }
  }
  Path path;
  for (std::size_t at = into; at != from; at = parent[at]) {
    const Edge& edge = *arrival[at];
    // Collected from the end; reversed below.
    if (peer && edge.peer_link.valid()) path.route.links.push_back(edge.peer_link);
    if (edge.link.valid()) path.route.links.push_back(edge.link);
    path.route.latency += edge.latency;
    ++path.hops;
  }
  std::reverse(path.route.links.begin(), path.route.links.end());
  return path;
}

}  // namespace weir
