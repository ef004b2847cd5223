#include "core/strategies/nics.h"

#include <algorithm>

namespace weir {

std::vector<double> nic_fractions(const Cluster& cluster, MachineId machine) {
  const std::vector<Nic>& nics = cluster.machine(machine).nics;
  if (nics.empty()) return {1.0};
  std::vector<double> fractions;
  double total = 0.0;
  for (const Nic& nic : nics) {
    const BytesPerSecond rate = std::min(cluster.link(nic.out).rate, cluster.link(nic.in).rate);
    total += fractions.emplace_back(static_cast<double>(rate.value()));
  }
  for (double& fraction : fractions) fraction /= total;
  return fractions;
}

int numa_of_nic(const Cluster& cluster, MachineId machine, int nic) {
  const std::vector<Nic>& nics = cluster.machine(machine).nics;
  return nics.empty() ? 0 : nics[static_cast<std::size_t>(nic)].numa;
}

NicTurns::NicTurns(const Cluster& cluster) : turns_(cluster.machines().size()) {
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    for (const double fraction : nic_fractions(cluster, MachineId(i))) turns_[i].push_back({fraction, 0.0});
  }
}

int NicTurns::take(MachineId machine, Bytes bytes) {
  std::vector<Turn>& turns = turns_[machine.index()];
  const auto more = static_cast<double>(bytes.count());
  const auto busy = [&](const Turn& turn) { return (turn.bytes + more) / turn.fraction; };
  const auto best = std::min_element(turns.begin(), turns.end(),
                                     [&](const Turn& a, const Turn& b) { return busy(a) < busy(b); });
  best->bytes += more;
  return static_cast<int>(best - turns.begin());
}

Duration time_at_nics(const Cluster& cluster, Bytes bytes) {
  Duration longest;
  for (const MachineId id : cluster.gpu_machines()) {
    BytesPerSecond in;
    BytesPerSecond out;
    for (const Nic& nic : cluster.machine(id).nics) {
      in = in + cluster.link(nic.in).rate;
      out = out + cluster.link(nic.out).rate;
    }
    if (cluster.machine(id).nics.empty()) continue;
    longest = std::max(longest, bytes / std::min(in, out));
  }
  return longest;
}

}  // namespace weir
