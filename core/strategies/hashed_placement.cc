#include "core/strategies/hashed_placement.h"

#include <fmt/format.h>

namespace weir {
namespace {

constexpr std::int64_t kBigArray = 1'000'000;  // elements
constexpr std::uint64_t kMxnetFactor = 9973;

MachineId chosen(std::uint64_t hash, const std::vector<MachineId>& machines) {
  return machines[hash % machines.size()];
}

// Which machine gets a key in mixed mode.
class MixedMode {
 public:
  explicit MixedMode(const Cluster& cluster) : cluster_(cluster) {
    const auto n = static_cast<double>(cluster.gpu_machines().size());
    const auto k = static_cast<double>(cluster.cpu_machines().size());
    threshold_ = 2 * k * (n - 1) / (n * n + k * n - 2 * k) * static_cast<double>(kMixedSlots);
  }

  MachineId owner(std::uint64_t key) const {
    const std::uint64_t slot = djb2(key) % kMixedSlots;
    const bool separate = static_cast<double>(slot) < threshold_;
    return chosen(djb2(slot), separate ? cluster_.cpu_machines() : cluster_.gpu_machines());
  }

 private:
  const Cluster& cluster_;
  double threshold_;
};

}  // namespace

std::uint64_t djb2(std::uint64_t number) {
  std::uint64_t hash = 5381;
  for (const char digit : fmt::format("{}", number)) hash = hash * 33 + static_cast<unsigned char>(digit);
  return hash;
}

std::vector<Assigned> assign_as_byteps(const Cluster& cluster, const Workload& workload, Bytes partition,
                                       Summing summing) {
  const std::vector<MachineId>& gpus = cluster.gpu_machines();
  const std::vector<MachineId>& cpus = cluster.cpu_machines();
  const bool optimal = summing == Summing::kOptimal;
  const bool mixed = optimal && !cpus.empty() && cpus.size() < gpus.size();
  const bool on_cpus =
      optimal ? gpus.size() > 1 && cpus.size() >= gpus.size() : summing == Summing::kCpuMachines;
  const std::vector<MachineId>& servers = on_cpus ? cpus : gpus;
  const MixedMode mixed_mode(cluster);
  std::vector<Assigned> assigned;
  std::vector<int> ranks(static_cast<std::size_t>(workload.layers()), 0);
  for (const Workload::Whole& tensor : workload.tensors()) {
    std::uint64_t key = static_cast<std::uint64_t>(tensor.tensor) << 16;
    for (Part part : cut(tensor.part, partition)) {
      const MachineId owner = mixed ? mixed_mode.owner(key) : chosen(djb2(key), servers);
      part.rank = ranks[static_cast<std::size_t>(part.first_layer)]++;
      assigned.push_back({part, owner});
      ++key;
    }
  }
  return assigned;
}

std::vector<Assigned> assign_as_mxnet(const Workload& workload, const std::vector<MachineId>& servers) {
  std::vector<Assigned> assigned;
  for (const Workload::Whole& tensor : workload.tensors()) {
    const auto key = static_cast<std::uint64_t>(tensor.tensor);
    if (tensor.part.range.size / size(tensor.part.dtype) < kBigArray) {
      assigned.push_back({tensor.part, chosen(key * kMxnetFactor, servers)});
      continue;
    }
    const std::vector<Part> pieces = cut(tensor.part, static_cast<int>(servers.size()));
    for (std::size_t i = 0; i < pieces.size(); ++i) assigned.push_back({pieces[i], servers[i]});
  }
  return assigned;
}

std::vector<Assigned> assign_in_turn(const Workload& workload, const std::vector<MachineId>& servers) {
  std::vector<Assigned> assigned;
  for (const Workload::Whole& tensor : workload.tensors())
    assigned.push_back({tensor.part, chosen(static_cast<std::uint64_t>(tensor.tensor), servers)});
  return assigned;
}

const std::vector<MachineId>& mxnet_servers(const Cluster& cluster) {
  return cluster.cpu_machines().empty() ? cluster.gpu_machines() : cluster.cpu_machines();
}

}  // namespace weir
