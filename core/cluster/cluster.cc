#include "core/cluster/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/check.h"
#include "core/cluster/topology.h"

namespace weir {
namespace {

BytesPerSecond divided(BytesPerSecond rate, double by) {
  if (!rate.limited()) return rate;
  return BytesPerSecond(std::max<std::int64_t>(1, std::llround(static_cast<double>(rate.value()) / by)));
}

}  // namespace

BytesPerSecond SumRates::of(Dtype dtype) const {
  const auto measured = by_dtype.find(dtype);
  return measured == by_dtype.end() ? other : measured->second;
}

LinkId Numa::sum_link(Dtype dtype) const {
  const auto known = sums.find(sum_rate.of(dtype));
  return known == sums.end() ? LinkId::none() : known->second;
}

double Machine::speed() const {
  WEIR_CHECK(has_gpus(), name);
  double slowest = gpus.front().speed;
  for (const Gpu& gpu : gpus) slowest = std::min(slowest, gpu.speed);
  return slowest;
}

Cluster::Cluster(const Topology& topology)
    : name_(topology.name), network_latency_(topology.network.latency) {
  for (std::size_t g = 0; g < topology.groups.size(); ++g) {
    tables_.emplace_back(topology.groups[g]);
    for (int i = 0; i < topology.groups[g].count; ++i) add_machine(topology, g, i);
  }
  WEIR_CHECK(!machines_.empty(), name_);
  add_racks(topology.network);
  classify();
}

void Cluster::add_machine(const Topology& topology, std::size_t group, int number) {
  const GroupSpec& spec = topology.groups[group];
  const RouteTable& table = tables_[group];
  const MachineId id(machines_.size());
  const std::size_t first_link = links_.size();
  Machine machine;
  machine.name = fmt::format("{}[{}]", spec.name, number);
  machine.group = spec.name;
  machine.nvlink = spec.nvlink.has_value();
  const auto here = [&](LinkId link) { return LinkId(first_link + link.index()); };
  for (Numa numa : table.numas()) {
    if (numa.bus.valid()) numa.bus = here(numa.bus);
    for (auto& [rate, link] : numa.sums) link = here(link);
    machine.numas.push_back(std::move(numa));
  }
  for (const GpuSpec& gpu : spec.gpus) {
    for (int i = 0; i < gpu.count; ++i) {
      machine.gpus.push_back({fmt::format("gpu{}", machine.gpus.size()), gpu.at, numa_above(spec, gpu.at),
                              gpu.memory, gpu.speed, gpu.sum_rate});
    }
  }
  for (Nic nic : table.nics()) {
    nic.out = here(nic.out);
    nic.in = here(nic.in);
    machine.nics.push_back(std::move(nic));
  }
  for (Link link : table.links()) {
    link.name = fmt::format("{}.{}", machine.name, link.name);
    link.machine = id;
    links_.push_back(std::move(link));
  }
  (machine.has_gpus() ? gpu_machines_ : cpu_machines_).push_back(id);
  machines_.push_back(std::move(machine));
  group_.push_back(group);
  first_link_.push_back(first_link);
}

void Cluster::add_racks(const NetworkSpec& network) {
  if (!network.racks) return;
  const RacksSpec& spec = *network.racks;
  const auto size = static_cast<std::size_t>(spec.size);
  const std::size_t count = (machines_.size() + size - 1) / size;
  std::vector<Rates> rates(count, Rates{BytesPerSecond(0), BytesPerSecond(0)});
  for (std::size_t m = 0; m < machines_.size(); ++m) {
    const std::size_t rack = spec.placement == RacksSpec::Placement::kPacked ? m / size : m % count;
    machines_[m].rack = static_cast<int>(rack);
    for (const Nic& nic : machines_[m].nics) {
      rates[rack].out = rates[rack].out + link(nic.out).rate;
      rates[rack].in = rates[rack].in + link(nic.in).rate;
    }
  }
  rack_latency_ = spec.latency;
  const auto add = [&](std::size_t rack, const char* way, BytesPerSecond rate) {
    if (!rate.limited()) return LinkId::none();
    links_.push_back(
        {fmt::format("rack[{}].{}", rack, way), Link::Kind::kRack, rate, spec.latency, MachineId::none()});
    return LinkId(links_.size() - 1);
  };
  for (std::size_t rack = 0; rack < count; ++rack) {
    const double share = spec.oversubscription.value_or(1.0);
    const BytesPerSecond up = spec.uplink ? spec.uplink->out : divided(rates[rack].out, share);
    const BytesPerSecond down = spec.uplink ? spec.uplink->in : divided(rates[rack].in, share);
    racks_.push_back({add(rack, "up", up), add(rack, "down", down)});
  }
}

void Cluster::classify() {
  // Racks are alike if they hold equally many machines of each group.
  std::map<int, std::map<std::size_t, int>> contents;
  for (std::size_t m = 0; m < machines_.size(); ++m) ++contents[machines_[m].rack][group_[m]];
  std::map<std::pair<std::size_t, std::map<std::size_t, int>>, int> classes;
  for (std::size_t m = 0; m < machines_.size(); ++m) {
    const auto next = static_cast<int>(classes.size());
    machine_class_.push_back(
        classes.try_emplace({group_[m], contents[machines_[m].rack]}, next).first->second);
  }
}

Route Cluster::route(MachineId machine, Memory from, Memory into) const {
  Route route = table(machine).between(from, into);
  for (LinkId& link : route.links) link = link_of(machine, link);
  return route;
}

Route Cluster::route(MachineId from_machine, Memory from, int from_nic, MachineId into_machine, Memory into,
                     int into_nic) const {
  const Route& out = table(from_machine).out(from, from_nic);
  const Route& in = table(into_machine).in(into_nic, into);
  Route route;
  route.links.reserve(out.links.size() + in.links.size() + 2);
  route.latency = out.latency + in.latency;
  if (from_machine != into_machine) route.latency += network_latency_;
  for (const LinkId link : out.links) route.links.push_back(link_of(from_machine, link));
  const int from_rack = machine(from_machine).rack;
  const int into_rack = machine(into_machine).rack;
  if (from_rack != into_rack) {
    const LinkId up = racks_[static_cast<std::size_t>(from_rack)].up;
    const LinkId down = racks_[static_cast<std::size_t>(into_rack)].down;
    if (up.valid()) route.links.push_back(up);
    if (down.valid()) route.links.push_back(down);
    route.latency += rack_latency_ * 2;
  }
  for (const LinkId link : in.links) route.links.push_back(link_of(into_machine, link));
  return route;
}

std::vector<int> Cluster::nearest_nics(MachineId machine, Memory memory) const {
  const RouteTable& routes = table(machine);
  std::vector<int> nearest;
  for (int nic = 0; nic < static_cast<int>(routes.nics().size()); ++nic) {
    if (!nearest.empty() && routes.hops(memory, nic) > routes.hops(memory, nearest.front())) continue;
    if (!nearest.empty() && routes.hops(memory, nic) < routes.hops(memory, nearest.front())) nearest.clear();
    nearest.push_back(nic);
  }
  return nearest;
}

int Cluster::nic_of_gpu(MachineId machine, int gpu) const {
  const std::vector<int> nics = nearest_nics(machine, Memory::gpu(gpu));
  return nics[static_cast<std::size_t>(gpu) % nics.size()];
}

std::optional<MachineId> Cluster::machine_of(LinkId link) const {
  if (std::ranges::any_of(racks_, [&](const Rack& rack) { return rack.up == link || rack.down == link; }))
    return std::nullopt;
  const auto next = std::ranges::upper_bound(first_link_, link.index());
  return MachineId(static_cast<std::size_t>(next - first_link_.begin()) - 1);
}

}  // namespace weir
