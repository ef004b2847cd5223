#include "core/strategies/blocks/nics.h"

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

std::vector<NumaFraction> numa_fractions(const Cluster& cluster, MachineId machine, int nic,
                                         NumaPlacement placement) {
  const int near = numa_of_nic(cluster, machine, nic);
  const auto count = static_cast<int>(cluster.machine(machine).numas.size());
  if (placement == NumaPlacement::kNic) return {{near}};
  if (placement == NumaPlacement::kFar) return {{(near + 1) % count}};
  std::vector<NumaFraction> all;
  for (int i = 0; i < count; ++i) all.push_back({(near + i) % count, 1.0 / count});
  return all;
}

std::size_t Turns::take(Bytes bytes) {
  const auto more = static_cast<double>(bytes.count());
  const auto ahead = [&](std::size_t i) { return (bytes_[i] + more) / fractions_[i]; };
  std::size_t least = 0;
  for (std::size_t i = 1; i < fractions_.size(); ++i) {
    if (ahead(i) < ahead(least)) least = i;
  }
  bytes_[least] += more;
  return least;
}

NicTurns::NicTurns(const Cluster& cluster) {
  for (std::size_t i = 0; i < cluster.machines().size(); ++i) {
    turns_.emplace_back(nic_fractions(cluster, MachineId(i)));
  }
}

NumaTurns::NumaTurns(const Cluster& cluster, NumaPlacement placement) {
  for (std::size_t i = 0; i < cluster.machines().size(); ++i) {
    std::vector<Choice>& choices = choices_.emplace_back();
    const std::size_t nics = std::max<std::size_t>(1, cluster.machines()[i].nics.size());
    for (std::size_t nic = 0; nic < nics; ++nic) {
      std::vector<NumaFraction> numas =
          numa_fractions(cluster, MachineId(i), static_cast<int>(nic), placement);
      std::vector<double> fractions;
      for (const NumaFraction& each : numas) fractions.push_back(each.fraction);
      choices.push_back({std::move(numas), Turns(std::move(fractions))});
    }
  }
}

int NumaTurns::take(MachineId machine, int nic, Bytes bytes) {
  Choice& choice = choices_[machine.index()][static_cast<std::size_t>(nic)];
  return choice.numas[choice.turns.take(bytes)].numa;
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
