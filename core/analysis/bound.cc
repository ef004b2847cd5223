#include "core/analysis/bound.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/analysis/critical_path.h"

namespace weir {
namespace {

double rate(BytesPerSecond rate) { return static_cast<double>(rate.value()); }

BytesPerSecond rounded_up(double rate) {
  constexpr double kMost = 9e18;
  return rate < kMost ? BytesPerSecond(std::llround(std::ceil(rate))) : BytesPerSecond::unlimited();
}

// Compute time of layers, forward and backward, on the GPUs of a machine.
class Compute {
 public:
  Compute(const Cluster& cluster, const Workload& workload) {
    for (int layer = 0; layer < workload.layers(); ++layer) {
      layers_.push_back(workload.layer(layer).forward + workload.layer(layer).backward);
    }
    for (const MachineId id : cluster.gpu_machines()) {
      const double speed = cluster.machine(id).speed();
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

constexpr double kSame = 1e-9;  // relative; smaller differences are rounding errors

// The value of a need, found layer by layer.
struct Candidate {
  Need need;
  double seconds = -1.0;
  double compute = 0.0;
  double exchange = 0.0;

  void offer(int layer, double computing, double exchanging) {
    if (computing + exchanging <= seconds * (1 + kSame)) return;
    seconds = computing + exchanging;
    compute = computing;
    exchange = exchanging;
    need.layer = layer;
  }
};

// Rounds down to whole nanoseconds: rounding must not push a bound above a reachable time.
Duration rounded_down(double seconds) { return Duration(static_cast<std::int64_t>(seconds * 1e9)); }

// The longest candidate: it binds. Among equals, the first that was offered.
const Candidate& binding(const std::vector<Candidate>& candidates) {
  const Candidate* longest = &candidates.front();
  for (const Candidate& candidate : candidates) {
    if (candidate.seconds > longest->seconds * (1 + kSame)) longest = &candidate;
  }
  return *longest;
}

Bound bound(const std::vector<Candidate>& candidates) {
  const Candidate& longest = binding(candidates);
  return {rounded_down(longest.seconds), longest.need.name};
}

std::vector<Need> needs(std::vector<Candidate> candidates) {
  const auto first = candidates.begin() + (&binding(candidates) - candidates.data());
  std::rotate(candidates.begin(), first, first + 1);
  std::stable_sort(candidates.begin() + 1, candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds > b.seconds; });
  std::vector<Need> needs;
  for (Candidate& candidate : candidates) {
    Need& need = needs.emplace_back(std::move(candidate.need));
    need.time = rounded_down(candidate.seconds);
    need.compute = rounded_down(candidate.compute);
    need.exchange = rounded_down(candidate.exchange);
  }
  return needs;
}

Candidate compute_alone(const Compute& compute) {
  Candidate candidate;
  candidate.need.name = "compute";
  candidate.offer(0, compute.slowest_machine(), 0.0);
  candidate.need.whole = rounded_down(candidate.compute);
  return candidate;
}

// What each byte of the model needs: this many bytes through something of this rate.
struct Passage {
  std::string name;
  MachineId machine;
  double bytes;
  double rate;
};

Passage once(const Link& link, double rate) { return {link.name, link.machine, 1.0, rate}; }

// The rates of all NICs of a machine together, by direction.
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

void add_network(const Cluster& cluster, std::vector<Passage>& passages) {
  const auto workers = static_cast<double>(cluster.gpu_machines().size());
  if (workers < 2) return;
  double both = 0.0;
  for (const MachineId id : cluster.gpu_machines()) {
    const NicRates rates(cluster, id);
    const Nic& nic = cluster.machine(id).nics.front();
    passages.push_back(once(cluster.link(nic.out), rates.out));
    passages.push_back(once(cluster.link(nic.in), rates.in));
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
        passages.push_back(once(cluster.link(link), rate(cluster.link(link).rate)));
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
      std::vector<Memory> others;
      for (int numa = 0; numa < static_cast<int>(machine.numas.size()); ++numa)
        others.push_back(Memory::host(numa));
      for (int other = 0; other < static_cast<int>(machine.gpus.size()); ++other) {
        if (other != gpu) others.push_back(Memory::gpu(other));
      }
      for (const bool out : {true, false}) {
        std::set<LinkId> cut;  // every route out of the GPU, or into it, crosses one of these
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
        passages.push_back(once(cluster.link(*cut.begin()), total));
      }
    }
  }
}

// How long each layer needs one link or device.
struct Load {
  Need need;
  std::vector<double> seconds;  // by layer
};

class Loads {
 public:
  Loads(const Plan& plan, const Cluster& cluster, const WorkTable& works, std::size_t layers)
      : links_(cluster.links().size()), devices_(works.resources().size()) {
    for (const Op& op : plan.ops()) {
      if (is_compute(op.kind) || !asks(op.kind)) continue;
      const Work& work = works.of(op.id);
      const auto layer = static_cast<std::size_t>(op.layer);
      if (work.path != Work::kNoPath) {
        for (const LinkUse& use : works.paths()[static_cast<std::size_t>(work.path)]) {
          const Link& link = cluster.link(use.link);
          Load& load = links_[use.link.index()];
          load.seconds.resize(layers);
          load.need.name = link.name;
          load.need.machine = link.machine;
          load.need.rate = reached_rate(plan, link);
          load.need.bytes += work.size * use.weight;
          load.seconds[layer] += static_cast<double>(work.size.count()) * use.weight / rate(load.need.rate);
        }
      }
      // A resource that serves several ops at once is not occupied for the sum of their times. A NIC's links
      // are already counted above.
      if (served(op.kind) != Serving::kOneByOne) continue;
      Load& load = devices_[work.resource];
      load.seconds.resize(layers);
      if (load.need.name.empty()) load.need.name = name(works.resources()[work.resource], cluster);
      load.need.machine = op.machine;
      load.seconds[layer] += (works.shortest(op.id) - work.latency).seconds();
    }
  }

  void offer(const Compute& compute, std::vector<Candidate>& candidates) const {
    for (const auto* loads : {&links_, &devices_}) {
      for (const Load& load : *loads) {
        Candidate candidate{load.need};
        double sum = 0.0;
        for (std::size_t layer = 0; layer < load.seconds.size(); ++layer) {
          sum += load.seconds[layer];
          if (load.seconds[layer] > 0) candidate.offer(static_cast<int>(layer), compute.from(layer), sum);
        }
        candidate.need.whole = rounded_down(sum);
        if (candidate.seconds >= 0) candidates.push_back(std::move(candidate));
      }
    }
  }

 private:
  std::vector<Load> links_;
  std::vector<Load> devices_;
};

std::vector<Candidate> cluster_candidates(const Cluster& cluster, const Workload& workload,
                                          std::vector<Passage> passages = {}) {
  const Compute compute(cluster, workload);
  add_network(cluster, passages);
  add_racks(cluster, passages);
  add_gpus(cluster, passages);
  std::vector<Candidate> candidates = {compute_alone(compute)};
  for (const Passage& passage : passages) {
    const double seconds_per_byte = passage.bytes / passage.rate;
    Candidate candidate{{passage.name, passage.machine}};
    double bytes = 0.0;
    for (int layer = 0; layer < workload.layers(); ++layer) {
      const auto size = static_cast<double>(workload.range(layer).size.count());
      bytes += size;
      if (size > 0)
        candidate.offer(layer, compute.from(static_cast<std::size_t>(layer)), seconds_per_byte * bytes);
    }
    candidate.need.bytes = Bytes(std::llround(passage.bytes * bytes));
    candidate.need.rate = rounded_up(passage.rate);
    candidate.need.whole = rounded_down(seconds_per_byte * bytes);
    if (candidate.seconds >= 0) candidates.push_back(std::move(candidate));
  }
  return candidates;
}

std::vector<Candidate> plan_candidates(const Plan& plan, const Cluster& cluster, const WorkTable& works,
                                       const Workload& workload) {
  const Compute compute(cluster, workload);
  std::vector<Candidate> candidates = {compute_alone(compute)};
  Loads(plan, cluster, works, static_cast<std::size_t>(workload.layers())).offer(compute, candidates);
  const Duration length = critical_path(plan, works).length;
  Candidate& path = candidates.emplace_back();
  path.need.name = "critical path";
  path.need.whole = length;
  path.offer(0, 0.0, length.seconds());
  return candidates;
}

}  // namespace

std::vector<Need> cluster_needs(const Cluster& cluster, const Workload& workload) {
  return needs(cluster_candidates(cluster, workload));
}

Bound cluster_bound(const Cluster& cluster, const Workload& workload) {
  return bound(cluster_candidates(cluster, workload));
}

Bound split_bound(const Cluster& cluster, const Workload& workload, const Shares& shares) {
  std::vector<Passage> split;
  if (shares.seconds_per_byte > 0) {
    split.push_back({shares.binding, MachineId::none(), 1.0, 1.0 / shares.seconds_per_byte});
  }
  return bound(cluster_candidates(cluster, workload, std::move(split)));
}

std::vector<Need> plan_needs(const Plan& plan, const Cluster& cluster, const Workload& workload) {
  return needs(plan_candidates(plan, cluster, WorkTable(plan, cluster), workload));
}

Bound plan_bound(const Plan& plan, const Cluster& cluster, const Workload& workload) {
  return plan_bound(plan, cluster, WorkTable(plan, cluster), workload);
}

Bound plan_bound(const Plan& plan, const Cluster& cluster, const WorkTable& works, const Workload& workload) {
  return bound(plan_candidates(plan, cluster, works, workload));
}

BytesPerSecond goodput_bound(const Cluster& cluster) {
  std::vector<Passage> passages;
  add_network(cluster, passages);
  add_racks(cluster, passages);
  BytesPerSecond least = BytesPerSecond::unlimited();
  for (const Passage& passage : passages) least = std::min(least, rounded_up(passage.rate / passage.bytes));
  return least;
}

}  // namespace weir
