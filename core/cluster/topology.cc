#include "core/cluster/topology.h"

#include <algorithm>
#include <charconv>

namespace weir {
namespace {

BytesPerSecond slowest(const Rates& rates) { return std::min(rates.in, rates.out); }

BytesPerSecond slowest_rate(const GroupSpec& group) {
  BytesPerSecond least = BytesPerSecond::unlimited();
  const auto take = [&](BytesPerSecond rate) { least = std::min(least, rate); };
  for (const NumaSpec& numa : group.numa) {
    take(numa.memory_rate);
    const SumRates rates = sum_rates(numa);
    take(rates.other);
    for (const auto& [dtype, rate] : rates.by_dtype) take(rate);
  }
  for (const SocketSpec& socket : group.sockets) take(slowest(socket.rate));
  for (const SwitchSpec& spec : group.switches) take(std::min(slowest(spec.rate), slowest(spec.peer_rate)));
  for (const GpuSpec& gpu : group.gpus) take(std::min(slowest(gpu.rate), gpu.sum_rate));
  for (const NicSpec& nic : group.nics) take(std::min(slowest(nic.rate), slowest(nic.pcie)));
  if (!group.nvlink) return least;
  if (group.nvlink->crossbar) take(slowest(group.nvlink->crossbar->rate));
  for (const NvlinkPairSpec& pair : group.nvlink->pairs) take(slowest(pair.rate));
  return least;
}

}  // namespace

int numa_named(std::string_view text) {
  constexpr std::string_view kPrefix = "numa";
  if (!text.starts_with(kPrefix)) return -1;
  text.remove_prefix(kPrefix.size());
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

int numa_above(const GroupSpec& group, std::string_view at) {
  while (numa_named(at) < 0) {
    at = std::find_if(group.switches.begin(), group.switches.end(), [&](const SwitchSpec& spec) {
           return spec.name == at;
         })->at;
  }
  return numa_named(at);
}

SumRates sum_rates(const NumaSpec& numa) {
  if (numa.sum_threads == 0) return numa.sum_rate;
  const auto of_threads = [&](BytesPerSecond each) {
    return each.limited() ? BytesPerSecond(each.value() * numa.sum_threads) : each;
  };
  const auto rate = [&](Dtype dtype) {
    return std::min(numa.sum_rate.of(dtype), of_threads(numa.sum_rate_per_thread.of(dtype)));
  };
  SumRates rates;
  rates.other = std::min(numa.sum_rate.other, of_threads(numa.sum_rate_per_thread.other));
  for (const SumRates* given : {&numa.sum_rate, &numa.sum_rate_per_thread}) {
    for (const auto& [dtype, ignored] : given->by_dtype) rates.by_dtype[dtype] = rate(dtype);
  }
  return rates;
}

int gpu_count(const GroupSpec& group) {
  int count = 0;
  for (const GpuSpec& gpu : group.gpus) count += gpu.count;
  return count;
}

int nic_count(const GroupSpec& group) {
  int count = 0;
  for (const NicSpec& nic : group.nics) count += nic.count;
  return count;
}

std::vector<NicSpec> nics_of(const Topology& topology, const std::string& group) {
  std::vector<NicSpec> nics;
  for (const GroupSpec& spec : topology.groups) {
    if (spec.name != group) continue;
    for (const NicSpec& nic : spec.nics) nics.insert(nics.end(), static_cast<std::size_t>(nic.count), nic);
  }
  return nics;
}

BytesPerSecond slowest_rate(const Topology& topology) {
  BytesPerSecond least = BytesPerSecond::unlimited();
  for (const GroupSpec& group : topology.groups) {
    if (group.count > 0) least = std::min(least, slowest_rate(group));
  }
  if (!topology.network.racks) return least;
  const RacksSpec& racks = *topology.network.racks;
  if (racks.uplink) least = std::min(least, slowest(*racks.uplink));
  if (!racks.oversubscription || *racks.oversubscription <= 1 || !least.limited()) return least;
  // An uplink's rate is the sum of its NICs' rates over the oversubscription, and it has at least one NIC.
  const double rate = static_cast<double>(least.value()) / *racks.oversubscription;
  return BytesPerSecond(std::max<std::int64_t>(1, static_cast<std::int64_t>(rate)));
}

}  // namespace weir
