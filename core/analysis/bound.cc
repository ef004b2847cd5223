#include "core/analysis/bound.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/analysis/compute_times.h"
#include "core/analysis/critical_path.h"
#include "core/analysis/exchanges.h"
#include "core/analysis/passages.h"

namespace weir {
namespace {

double rate(BytesPerSecond rate) { return static_cast<double>(rate.value()); }

BytesPerSecond rounded_up(double rate) {
  constexpr double kMost = 9e18;
  return rate < kMost ? BytesPerSecond(std::llround(std::ceil(rate))) : BytesPerSecond::unlimited();
}

// Compute times of the fastest machine, and of the slowest.
class Compute {
 public:
  Compute(const Cluster& cluster, const Workload& workload)
      : fastest_(workload, speeds(cluster).second), slowest_(workload, speeds(cluster).first) {}

  double backward(std::size_t from) const { return fastest_.backward[from]; }
  double forward(std::size_t from) const { return fastest_.forward[from]; }
  double slowest_machine() const { return slowest_.all(); }

 private:
  static std::pair<double, double> speeds(const Cluster& cluster) {
    std::pair<double, double> speeds(1e300, 0.0);
    for (const MachineId id : cluster.gpu_machines()) {
      const double speed = cluster.machine(id).speed();
      speeds = {std::min(speeds.first, speed), std::max(speeds.second, speed)};
    }
    return speeds;
  }
  ComputeTimes fastest_;
  ComputeTimes slowest_;
};

constexpr double kSame = 1e-9;  // relative; smaller differences are rounding errors

// The value of a need, found layer by layer.
struct Candidate {
  Need need;
  double seconds = 0.0;  // for the stretch
  double steady = 0.0;
  double first = -1.0;
  double compute = 0.0;
  double exchange = 0.0;
  double head = 0.0;  // until layers 0..l are exchanged, for the layer that makes it longest
  double tail = 0.0;  // from the begin of the exchange of layers 0..l
  Windows windows = {};

  void offer(const Compute& computing, std::size_t layer, double exchanging) {
    const double backward = computing.backward(layer);
    const double forward = computing.forward(layer);
    head = std::max(head, backward + exchanging);
    tail = std::max(tail, exchanging + forward);
    offer(static_cast<int>(layer), backward + forward, exchanging);
  }
  void offer(int layer, double computing, double exchanging) {
    if (computing + exchanging <= first * (1 + kSame)) return;
    first = computing + exchanging;
    compute = computing;
    exchange = exchanging;
    need.layer = layer;
  }
  Use use(double whole) const { return {first, head + tail, whole}; }
};

// Rounds down to whole nanoseconds: rounding must not push a bound above a reachable time.
Duration rounded_down(double seconds) { return Duration(static_cast<std::int64_t>(seconds * 1e9)); }

// The longest candidate: it binds. Among equals, the one that makes the first iteration longest, and of these
// the first that was offered.
const Candidate& binding(const std::vector<Candidate>& candidates) {
  const Candidate* longest = &candidates.front();
  for (const Candidate& candidate : candidates) {
    const bool equal = std::abs(candidate.seconds - longest->seconds) <= longest->seconds * kSame;
    const bool longer =
        equal ? candidate.first > longest->first * (1 + kSame) : candidate.seconds > longest->seconds;
    if (longer) longest = &candidate;
  }
  return *longest;
}

// Sets the times of all candidates for this stretch.
void measure(std::vector<Candidate>& candidates, const Stretch& stretch) {
  for (Candidate& candidate : candidates)
    candidate.seconds = candidate.windows.mean(stretch, candidate.first);
}

// The same. What machines need of each other is attributed to the longest of these candidates.
void measure(std::vector<Candidate>& candidates, const Exchanges& exchanges, const Stretch& stretch) {
  measure(candidates, stretch);
  Candidate& longest = candidates[static_cast<std::size_t>(&binding(candidates) - candidates.data())];
  longest.windows.offer(exchanges.windows());
  longest.seconds = longest.windows.mean(stretch, longest.first);
}

Bound bound(const std::vector<Candidate>& candidates) {
  const Candidate& longest = binding(candidates);
  return {rounded_down(longest.seconds), longest.need.name};
}

// Of candidates that are measured for a steady state.
std::vector<Need> needs(std::vector<Candidate> candidates) {
  for (Candidate& candidate : candidates)
    candidate.steady = std::exchange(candidate.seconds, candidate.first);
  const auto first = candidates.begin() + (&binding(candidates) - candidates.data());
  std::rotate(candidates.begin(), first, first + 1);
  std::stable_sort(candidates.begin() + 1, candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds > b.seconds; });
  std::vector<Need> needs;
  for (Candidate& candidate : candidates) {
    Need& need = needs.emplace_back(std::move(candidate.need));
    need.time = rounded_down(candidate.first);
    need.steady = rounded_down(candidate.steady);
    need.compute = rounded_down(candidate.compute);
    need.exchange = rounded_down(candidate.exchange);
  }
  return needs;
}

Candidate compute_alone(const Compute& compute, const Exchanges& exchanges) {
  Candidate candidate;
  candidate.need.name = "compute";
  candidate.offer(0, compute.slowest_machine(), 0.0);
  candidate.need.whole = rounded_down(candidate.compute);
  candidate.windows = exchanges.alone(candidate.first);
  return candidate;
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

  void offer(const Compute& compute, const Exchanges& exchanges, std::vector<Candidate>& candidates) const {
    for (const auto* loads : {&links_, &devices_}) {
      for (const Load& load : *loads) {
        Candidate candidate{load.need};
        double sum = 0.0;
        for (std::size_t layer = 0; layer < load.seconds.size(); ++layer) {
          sum += load.seconds[layer];
          if (load.seconds[layer] > 0) candidate.offer(compute, layer, sum);
        }
        candidate.need.whole = rounded_down(sum);
        candidate.windows = exchanges.shared(candidate.use(sum));
        if (candidate.first >= 0) candidates.push_back(std::move(candidate));
      }
    }
  }

 private:
  std::vector<Load> links_;
  std::vector<Load> devices_;
};

std::vector<Passage> passages_of(const Cluster& cluster) {
  std::vector<Passage> passages;
  add_network(cluster, passages);
  add_racks(cluster, passages);
  add_gpus(cluster, passages);
  return passages;
}

std::vector<Candidate> cluster_candidates(const Cluster& cluster, const Workload& workload,
                                          const Stretch& stretch, std::vector<Passage> split = {}) {
  const Compute compute(cluster, workload);
  std::vector<Passage> passages = passages_of(cluster);
  const Exchanges exchanges(cluster, workload, passages);
  passages.insert(passages.begin(), split.begin(), split.end());
  std::vector<Candidate> candidates = {compute_alone(compute, exchanges)};
  for (const Passage& passage : passages) {
    const double seconds_per_byte = passage.seconds_per_byte();
    Candidate candidate{{passage.name, passage.machine}};
    double bytes = 0.0;
    for (int layer = 0; layer < workload.layers(); ++layer) {
      const auto size = static_cast<double>(workload.range(layer).size.count());
      bytes += size;
      if (size > 0) candidate.offer(compute, static_cast<std::size_t>(layer), seconds_per_byte * bytes);
    }
    candidate.need.bytes = Bytes(std::llround(passage.bytes * bytes));
    candidate.need.rate = rounded_up(passage.rate);
    candidate.need.whole = rounded_down(seconds_per_byte * bytes);
    candidate.windows = exchanges.through(passage, candidate.use(seconds_per_byte * bytes));
    if (candidate.first >= 0) candidates.push_back(std::move(candidate));
  }
  measure(candidates, exchanges, stretch);
  return candidates;
}

Candidate critical(const Plan& plan, const WorkTable& works) {
  const Duration length = critical_path(plan, works).length;
  Candidate path;
  path.need.name = "critical path";
  path.need.whole = length;
  path.offer(0, 0.0, length.seconds());
  return path;
}

std::vector<Candidate> loaded(const Plan& plan, const Cluster& cluster, const WorkTable& works,
                              const Workload& workload, const Stretch& stretch) {
  const Compute compute(cluster, workload);
  const Exchanges exchanges(cluster, workload, passages_of(cluster));
  std::vector<Candidate> candidates = {compute_alone(compute, exchanges)};
  Loads(plan, cluster, works, static_cast<std::size_t>(workload.layers()))
      .offer(compute, exchanges, candidates);
  measure(candidates, exchanges, stretch);
  return candidates;
}

}  // namespace

std::vector<Need> cluster_needs(const Cluster& cluster, const Workload& workload) {
  return needs(cluster_candidates(cluster, workload, Stretch::steady()));
}

Bound cluster_bound(const Cluster& cluster, const Workload& workload, const Stretch& stretch) {
  return bound(cluster_candidates(cluster, workload, stretch));
}

Bound split_bound(const Cluster& cluster, const Workload& workload, const Shares& shares,
                  const Stretch& stretch) {
  std::vector<Passage> split;
  if (shares.seconds_per_byte > 0) {
    split.push_back({shares.binding, MachineId::none(), 1.0, 1.0 / shares.seconds_per_byte});
  }
  return bound(cluster_candidates(cluster, workload, stretch, std::move(split)));
}

std::vector<Need> plan_needs(const Plan& plan, const Cluster& cluster, const Workload& workload) {
  const WorkTable works(plan, cluster);
  std::vector<Candidate> candidates = loaded(plan, cluster, works, workload, Stretch::steady());
  Candidate& path = candidates.emplace_back(critical(plan, works));
  path.seconds = critical_windows(plan, works).mean(Stretch::steady(), path.first);
  return needs(std::move(candidates));
}

Bound plan_bound(const Plan& plan, const Cluster& cluster, const Workload& workload, const Stretch& stretch) {
  return plan_bound(plan, cluster, WorkTable(plan, cluster), workload, stretch);
}

Bound plan_bound(const Plan& plan, const Cluster& cluster, const WorkTable& works, const Workload& workload,
                 const Stretch& stretch) {
  std::vector<Candidate> candidates = loaded(plan, cluster, works, workload, stretch);
  Candidate path;
  path.need.name = "critical path";
  // Each takes a while for large plans.
  if (stretch.warm_up == 0) path = critical(plan, works);
  if (stretch != Stretch::first()) path.windows = critical_windows(plan, works);
  path.seconds = path.windows.mean(stretch, path.first);
  candidates.push_back(std::move(path));
  return bound(candidates);
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
