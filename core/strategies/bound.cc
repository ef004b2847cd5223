#include "core/strategies/bound.h"

#include <algorithm>
#include <set>

namespace weir {
namespace {

double rate(BytesPerSecond rate) { return static_cast<double>(rate.value()); }

// Compute time of one layer, both ways, on the GPUs of a machine.
class Compute {
 public:
  Compute(const Cluster& cluster, const Workload& workload) {
    for (int layer = 0; layer < workload.layers(); ++layer) {
      layers_.push_back(workload.layer(layer).forward + workload.layer(layer).backward);
    }
    for (const MachineId id : cluster.gpu_machines()) {
      double speed = cluster.machine(id).gpus.front().speed;
      for (const Gpu& gpu : cluster.machine(id).gpus) speed = std::min(speed, gpu.speed);
      slowest_ = std::min(slowest_, speed);
      fastest_ = std::max(fastest_, speed);
    }
  }

  // The fastest machine's time for the layers from `layer` on.
  double from(std::size_t layer) const {
    Duration total;
    for (std::size_t i = layer; i < layers_.size(); ++i) total += layers_[i];
    return total.seconds() / fastest_;
  }

  double slowest_machine() const { return from(0) * fastest_ / slowest_; }

 private:
  std::vector<Duration> layers_;
  double slowest_ = 1e300;
  double fastest_ = 0.0;
};

// Keeps the largest of the bounds it is shown.
class Largest {
 public:
  void offer(double seconds, const std::string& binding) {
    if (seconds <= seconds_ * (1 + 1e-9)) return;
    seconds_ = seconds;
    binding_ = binding;
  }
  // A whole nanosecond less: rounding must not push a bound above what can be reached.
  Bound bound() const {
    const auto ns = static_cast<std::int64_t>(seconds_ * 1e9);
    return {Duration(ns), binding_};
  }

 private:
  double seconds_ = -1.0;
  std::string binding_;
};

struct Need {
  double seconds_per_byte;
  std::string name;
};

// The directions of a machine's NICs taken together.
struct NicRates {
  double in = 0.0;
  double out = 0.0;
  explicit NicRates(const Cluster& cluster, MachineId machine) {
    for (const Nic& nic : cluster.machine(machine).nics) {
      in += rate(cluster.link(nic.in).rate);
      out += rate(cluster.link(nic.out).rate);
    }
  }
};

void add_network(const Cluster& cluster, std::vector<Need>& needs) {
  const auto workers = static_cast<double>(cluster.gpu_machines().size());
  if (workers < 2) return;
  double both = 0.0;
  for (const MachineId id : cluster.gpu_machines()) {
    const NicRates rates(cluster, id);
    const Nic& nic = cluster.machine(id).nics.front();
    needs.push_back({1.0 / rates.out, cluster.link(nic.out).name});
    needs.push_back({1.0 / rates.in, cluster.link(nic.in).name});
    both += rates.in + rates.out;
  }
  for (const MachineId id : cluster.cpu_machines()) {
    const NicRates rates(cluster, id);
    both += (workers - 2) / workers * (rates.in + rates.out);
  }
  needs.push_back({4 * (workers - 1) / both, "all NICs together"});
}

void add_racks(const Cluster& cluster, std::vector<Need>& needs) {
  std::map<int, std::size_t> workers;
  for (const MachineId id : cluster.gpu_machines()) ++workers[cluster.machine(id).rack];
  if (workers.size() < 2) return;
  // The uplinks that a route between two racks crosses are those of the two.
  const MachineId first = cluster.gpu_machines().front();
  for (const MachineId id : cluster.gpu_machines()) {
    if (cluster.machine(id).rack == cluster.machine(first).rack) continue;
    for (const auto& [from, into] : {std::pair(first, id), std::pair(id, first)}) {
      for (const LinkId link : cluster.route(from, Memory::host(0), 0, into, Memory::host(0), 0).links) {
        if (cluster.link(link).kind != Link::Kind::kRack) continue;
        needs.push_back({1.0 / rate(cluster.link(link).rate), cluster.link(link).name});
      }
    }
  }
}

void add_gpus(const Cluster& cluster, std::vector<Need>& needs) {
  std::size_t gpus = 0;
  for (const MachineId id : cluster.gpu_machines()) gpus += cluster.machine(id).gpus.size();
  if (gpus < 2) return;
  for (const MachineId id : cluster.gpu_machines()) {
    const Machine& machine = cluster.machine(id);
    for (int gpu = 0; gpu < static_cast<int>(machine.gpus.size()); ++gpu) {
      std::vector<Memory> others;
      for (int numa = 0; numa < static_cast<int>(machine.numas.size()); ++numa)
        others.push_back(Memory::host(numa));
      for (int other = 0; other < static_cast<int>(machine.gpus.size()); ++other) {
        if (other != gpu) others.push_back(Memory::gpu(other));
      }
      for (const bool out : {true, false}) {
        std::set<LinkId> cut;  // every way out of the GPU, or into it, crosses one of these
        bool free = false;
        for (const Memory& other : others) {
          const Route route =
              out ? cluster.route(id, Memory::gpu(gpu), other) : cluster.route(id, other, Memory::gpu(gpu));
          free = free || route.links.empty();
          if (!route.links.empty()) cut.insert(out ? route.links.front() : route.links.back());
        }
        if (free) continue;
        double total = 0.0;
        for (const LinkId link : cut) total += rate(cluster.link(link).rate);
        needs.push_back({1.0 / total, cluster.link(*cut.begin()).name});
      }
    }
  }
}

// Time per layer that one link or device is needed.
struct Load {
  std::string name;
  std::vector<double> seconds;  // by layer
};

class Loads {
 public:
  Loads(const Plan& plan, const Cluster& cluster, const WorkTable& works, std::size_t layers)
      : links_(cluster.links().size()), devices_(works.resources().size()) {
    for (const Op& op : plan.ops()) {
      if (is_compute(op.kind) || op.kind == OpKind::kReceive) continue;
      const Work& work = works.of(op.id);
      const auto layer = static_cast<std::size_t>(op.layer);
      if (work.path != Work::kNoPath) {
        for (const LinkUse& use : works.paths()[static_cast<std::size_t>(work.path)]) {
          const Link& link = cluster.link(use.link);
          Load& load = links_[use.link.index()];
          load.seconds.resize(layers);
          load.name = link.name;
          load.seconds[layer] += static_cast<double>(work.size.count()) * use.weight / rate(link.rate);
        }
      }
      if (op.kind == OpKind::kSend)
        continue;  // a NIC serves several messages at once; its links are counted above
      Load& load = devices_[work.resource];
      load.seconds.resize(layers);
      if (load.name.empty()) load.name = name(works.resources()[work.resource], cluster);
      load.seconds[layer] += (works.shortest(op.id) - work.latency).seconds();
    }
  }

  void offer(const Compute& compute, Largest& largest) const {
    for (const auto* loads : {&links_, &devices_}) {
      for (const Load& load : *loads) {
        double sum = 0.0;
        for (std::size_t layer = 0; layer < load.seconds.size(); ++layer) {
          sum += load.seconds[layer];
          if (load.seconds[layer] > 0) largest.offer(compute.from(layer) + sum, load.name);
        }
      }
    }
  }

 private:
  std::vector<Load> links_;
  std::vector<Load> devices_;
};

// The longest path: every op as short as it can be, every message when both of its ends are ready.
Duration longest_path(const Plan& plan, const WorkTable& works) {
  const std::size_t count = plan.ops().size();
  std::vector<std::uint32_t> waits(count);
  std::vector<Duration> ready(count);
  std::vector<OpId> next;
  for (const Op& op : plan.ops()) {
    waits[op.id.index()] = plan.waits(op.id) + (is_message(op.kind) ? 1U : 0U);
  }
  Duration longest;
  const auto complete = [&](OpId id, Duration at) {
    longest = std::max(longest, at);
    for (const Successor successor : plan.successors(id)) {
      if (successor.carried != 0) continue;
      ready[successor.op] = std::max(ready[successor.op], at);
      if (--waits[successor.op] == (is_message(plan.op(successor.id()).kind) ? 1U : 0U)) {
        next.push_back(successor.id());
      }
    }
  };
  for (const Op& op : plan.ops()) {
    if (plan.waits(op.id) == 0) next.push_back(op.id);
  }
  while (!next.empty()) {
    const OpId id = next.back();
    next.pop_back();
    const Op& op = plan.op(id);
    if (!is_message(op.kind)) {
      complete(id, ready[id.index()] + works.shortest(id));
      continue;
    }
    waits[id.index()] = 0;
    const MessageEnds ends = plan.messages()[op.message.index()];
    if (waits[ends.send.index()] > 0 || waits[ends.receive.index()] > 0) continue;
    const Duration at =
        std::max(ready[ends.send.index()], ready[ends.receive.index()]) + works.shortest(ends.send);
    complete(ends.send, at);
    complete(ends.receive, at);
  }
  return longest;
}

}  // namespace

Bound cluster_bound(const Cluster& cluster, const Workload& workload) {
  const Compute compute(cluster, workload);
  std::vector<Need> needs;
  add_network(cluster, needs);
  add_racks(cluster, needs);
  add_gpus(cluster, needs);
  Largest largest;
  largest.offer(compute.slowest_machine(), "compute");
  for (const Need& need : needs) {
    double bytes = 0.0;
    for (int layer = 0; layer < workload.layers(); ++layer) {
      const auto size = static_cast<double>(workload.range(layer).size.count());
      bytes += size;
      if (size > 0)
        largest.offer(compute.from(static_cast<std::size_t>(layer)) + need.seconds_per_byte * bytes,
                      need.name);
    }
  }
  return largest.bound();
}

Bound plan_bound(const Plan& plan, const Cluster& cluster, const Workload& workload) {
  const WorkTable works(plan, cluster);
  const Compute compute(cluster, workload);
  Largest largest;
  largest.offer(compute.slowest_machine(), "compute");
  Loads(plan, cluster, works, static_cast<std::size_t>(workload.layers())).offer(compute, largest);
  largest.offer(longest_path(plan, works).seconds(), "critical path");
  return largest.bound();
}

}  // namespace weir
