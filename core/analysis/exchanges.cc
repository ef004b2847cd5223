#include "core/analysis/exchanges.h"

#include <algorithm>

namespace weir {
namespace {

constexpr int kMostSteps = 16;            // of the chains that windows are made of
constexpr std::size_t kMostKinds = 1000;  // with more, the uplinks of racks are left out

}  // namespace

void Exchanges::Ways::offer(const Passage& passage) {
  double& way = passage.cut == Passage::Cut::kOut ? out : in;
  way = std::max(way, passage.seconds_per_byte());
}

Exchanges::Exchanges(const Cluster& cluster, const Workload& workload, const std::vector<Passage>& passages)
    : machines_(cluster.gpu_machines().size()) {
  double bytes = 0.0;
  for (int layer = 0; layer < workload.layers(); ++layer) {
    bytes += static_cast<double>(workload.range(layer).size.count());
    bytes_.push_back(bytes);
  }
  std::vector<Ways> machines(cluster.machines().size());
  std::vector<double> inside(cluster.machines().size());
  std::map<int, Ways> racks;
  for (const Passage& passage : passages) {
    if (passage.cut == Passage::Cut::kNone) continue;
    if (passage.rack != Passage::kNoRack) {
      racks[passage.rack].offer(passage);
      continue;
    }
    const std::size_t machine = passage.machine.index();
    machines[machine].offer(passage);
    if (passage.inside) inside[machine] = std::max(inside[machine], passage.seconds_per_byte());
  }
  const auto count = [&](bool with_racks) {
    kinds_.clear();
    for (const MachineId id : cluster.gpu_machines()) {
      const Machine& machine = cluster.machine(id);
      Kind kind{machine.speed(), 0, machines[id.index()], {}, inside[id.index()]};
      if (with_racks && !racks.empty()) {
        kind.rack = machine.rack;
        kind.uplink = racks[machine.rack];
      }
      ++kinds_[kind];
      times_.try_emplace(kind.speed, workload, kind.speed);
    }
  };
  count(true);
  if (kinds_.size() > kMostKinds) count(false);
  find_windows();
}

double Exchanges::between(const Kind& from, const Kind& into) const {
  double seconds_per_byte = std::max(from.machine.out, into.machine.in);
  if (from.rack != into.rack)
    seconds_per_byte = std::max({seconds_per_byte, from.uplink.out, into.uplink.in});
  return longest(times_.at(from.speed), times_.at(into.speed), seconds_per_byte);
}

double Exchanges::within(const Kind& kind) const {
  const ComputeTimes& times = times_.at(kind.speed);
  return std::max(times.all(), longest(times, times, kind.inside));
}

// Without gradients, nobody waits.
double Exchanges::longest(const ComputeTimes& from, const ComputeTimes& into, double seconds_per_byte) const {
  double longest = 0.0;
  for (std::size_t l = 0; l < bytes_.size(); ++l) {
    if (bytes_[l] == 0.0) continue;
    longest = std::max(longest, from.backward[l] + seconds_per_byte * bytes_[l] + into.forward[l]);
  }
  return longest;
}

void Exchanges::find_windows() {
  std::vector<const Kind*> kinds;
  std::vector<double> own;  // the most time from a machine to one of its kind, or to itself
  constexpr double kNone = 1e300;
  apart_ = alone_ = kNone;
  for (const auto& [kind, count] : kinds_) {
    const double self = within(kind);
    const double other = between(kind, kind);
    alone_ = std::min(alone_, self);
    if (count > 1) apart_ = std::min(apart_, other);
    kinds.push_back(&kind);
    own.push_back(count > 1 ? std::max(self, other) : self);
  }
  const std::size_t n = kinds.size();
  std::vector<double> weights(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      weights[i * n + j] = i == j ? own[i] : between(*kinds[i], *kinds[j]);
      if (i != j) apart_ = std::min(apart_, weights[i * n + j]);
    }
  }
  if (machines_ < 2) apart_ = 0.0;
  std::vector<double> chains(n);  // the longest that begin at a machine of this kind
  std::vector<double> longer(n);
  for (int steps = 1; steps <= kMostSteps; ++steps) {
    for (std::size_t i = 0; i < n; ++i) {
      longer[i] = 0.0;
      for (std::size_t j = 0; j < n; ++j) longer[i] = std::max(longer[i], weights[i * n + j] + chains[j]);
    }
    chains.swap(longer);
    const auto [least, most] = std::minmax_element(chains.begin(), chains.end());
    windows_.offer(steps, *least);
    if (*least == *most && steps == 1) break;  // all machines alike: more steps say nothing more
  }
}

// Let the last machine end an iteration at the instant t. No machine ends the next one before t + min(apart,
// alone), nor the one after before t + 2 apart, or t + apart + min(apart, alone) with only two machines. The
// uses of later iterations begin after that.
Windows Exchanges::shared(const Use& use) const {
  if (machines_ < 2) return alone(use.first);
  const double soon = std::min(apart_, alone_);
  const double later = apart_ + (machines_ > 2 ? apart_ : soon);
  Windows windows;
  windows.offer(1, std::min(apart_, use.first));  // what exceeds it is no matter of this use
  for (const auto& [iterations, begin] : {std::pair(1, soon), std::pair(2, later)}) {
    windows.offer(iterations + 1, begin + use.first);
    windows.offer(iterations + 2, begin + use.two, use.whole);
  }
  return windows;
}

// From the last machine to the other side of the passage and back, or the other way round.
Windows Exchanges::through(const Passage& passage, const Use& use) const {
  Windows windows = shared(use);
  if (machines_ > 1 && passage.cut != Passage::Cut::kNone) windows.offer(2, apart_ + use.first);
  if (passage.inside) windows.offer(alone(use.first));
  return windows;
}

// The last machine may be another one, from which it takes at least `apart` to this one.
Windows Exchanges::alone(double seconds) const {
  Windows windows;
  windows.offer(1, machines_ < 2 ? seconds : std::min(apart_, seconds), seconds);
  return windows;
}

}  // namespace weir
