#include "core/analysis/passages.h"

#include <map>
#include <optional>
#include <set>

namespace weir {
namespace {

double bytes_in_a_second(BytesPerSecond rate) { return static_cast<double>(rate.value()); }

Passage once(const Link& link, double rate, Passage::Cut cut) {
  return {link.name, link.machine, 1.0, rate, cut};
}

// The rates of all NICs of a machine together, by direction.
struct NicRates {
  double in = 0.0;
  double out = 0.0;
  explicit NicRates(const Cluster& cluster, MachineId machine) {
    for (const Nic& nic : cluster.machine(machine).nics) {
      in += bytes_in_a_second(cluster.link(nic.in).rate);
      out += bytes_in_a_second(cluster.link(nic.out).rate);
    }
  }
};

// A set of links. Every route out of the GPU (or into it) crosses one of them. None if some route crosses no
// link. NICs may read and write the GPU's memory, past the links that lead to other memories of the machine.
std::optional<std::set<LinkId>> cut_of_gpu(const Cluster& cluster, MachineId id, int gpu, bool out) {
  const Machine& machine = cluster.machine(id);
  const Memory own = Memory::gpu(gpu);
  std::vector<Route> routes;
  const auto add = [&](const Memory& other) {
    routes.push_back(out ? cluster.route(id, own, other) : cluster.route(id, other, own));
  };
  for (int numa = 0; numa < static_cast<int>(machine.numas.size()); ++numa) add(Memory::host(numa));
  for (int other = 0; other < static_cast<int>(machine.gpus.size()); ++other) {
    if (other != gpu) add(Memory::gpu(other));
  }
  const MachineId peer(id.index() == 0 ? 1 : 0);
  const Memory host = Memory::host(0);
  for (int nic = 0; cluster.machines().size() > 1 && nic < static_cast<int>(machine.nics.size()); ++nic)
    routes.push_back(out ? cluster.route(id, own, nic, peer, host, 0)
                         : cluster.route(peer, host, 0, id, own, nic));
  std::set<LinkId> cut;
  for (const Route& route : routes) {
    if (route.links.empty()) return std::nullopt;
    cut.insert(out ? route.links.front() : route.links.back());
  }
  return cut;
}

}  // namespace

void add_network(const Cluster& cluster, std::vector<Passage>& passages) {
  const auto workers = static_cast<double>(cluster.gpu_machines().size());
  if (workers < 2) return;
  double both = 0.0;
  for (const MachineId id : cluster.gpu_machines()) {
    const NicRates rates(cluster, id);
    const Nic& nic = cluster.machine(id).nics.front();
    passages.push_back(once(cluster.link(nic.out), rates.out, Passage::Cut::kOut));
    passages.push_back(once(cluster.link(nic.in), rates.in, Passage::Cut::kIn));
    both += rates.in + rates.out;
  }
  for (const MachineId id : cluster.cpu_machines()) {
    const NicRates rates(cluster, id);
    both += (workers - 2) / workers * (rates.in + rates.out);
  }
  passages.push_back({"all NICs together", MachineId::none(), 4 * (workers - 1), both});
}

void add_racks(const Cluster& cluster, std::vector<Passage>& passages) {
  std::map<int, std::size_t> workers;
  for (const MachineId id : cluster.gpu_machines()) ++workers[cluster.machine(id).rack];
  if (workers.size() < 2) return;
  // A route between two racks crosses the uplinks of exactly those racks.
  const MachineId first = cluster.gpu_machines().front();
  for (const MachineId id : cluster.gpu_machines()) {
    if (cluster.machine(id).rack == cluster.machine(first).rack) continue;
    for (const auto& [from, into] : {std::pair(first, id), std::pair(id, first)}) {
      for (const LinkId link : cluster.route(from, Memory::host(0), 0, into, Memory::host(0), 0).links) {
        if (cluster.link(link).kind != Link::Kind::kRack) continue;
        const bool up = cluster.link(link).name.ends_with(".up");
        passages.push_back(once(cluster.link(link), bytes_in_a_second(cluster.link(link).rate),
                                up ? Passage::Cut::kOut : Passage::Cut::kIn));
        passages.back().rack = cluster.machine(up ? from : into).rack;
      }
    }
  }
}

void add_gpus(const Cluster& cluster, std::vector<Passage>& passages) {
  std::size_t gpus = 0;
  for (const MachineId id : cluster.gpu_machines()) gpus += cluster.machine(id).gpus.size();
  if (gpus < 2) return;
  for (const MachineId id : cluster.gpu_machines()) {
    const Machine& machine = cluster.machine(id);
    for (int gpu = 0; gpu < static_cast<int>(machine.gpus.size()); ++gpu) {
      for (const bool out : {true, false}) {
        const std::optional<std::set<LinkId>> cut = cut_of_gpu(cluster, id, gpu, out);
        if (!cut) continue;
        double total = 0.0;
        for (const LinkId link : *cut) total += bytes_in_a_second(cluster.link(link).rate);
        passages.push_back(
            once(cluster.link(*cut->begin()), total, out ? Passage::Cut::kOut : Passage::Cut::kIn));
        passages.back().inside = machine.gpus.size() > 1;
      }
    }
  }
}

}  // namespace weir
