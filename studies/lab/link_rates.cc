#include "studies/lab/link_rates.h"

#include <algorithm>

namespace weir {

using RawRates = Result<std::vector<BytesPerSecond>>;

Result<std::vector<PairRate>> pair_rates(real::Lab& lab, const Cluster& cluster,
                                         const real::RateSettings& settings) {
  std::vector<real::RawFlow> streams;
  const std::size_t count = cluster.machines().size();
  for (std::size_t i = 0; i < count; ++i)
    streams.push_back({.from = MachineId(i), .into = MachineId((i + 1) % count)});
  const RawRates together = raw_rates(lab, streams, settings);
  if (!together) return tl::unexpected(together.error());
  std::vector<PairRate> rates;
  for (std::size_t i = 0; i < count; ++i) {
    const real::RawFlow& stream = streams[i];
    const RawRates alone = raw_rates(lab, {stream}, settings);
    if (!alone) return tl::unexpected(alone.error());
    rates.push_back({stream.from, stream.into, shaped_rate(cluster, stream.from, stream.into), alone->front(),
                     (*together)[i]});
  }
  return rates;
}

Result<std::vector<MachineRates>> all_to_all_rates(real::Lab& lab, const Cluster& cluster,
                                                   const real::RateSettings& settings) {
  std::vector<real::RawFlow> streams;
  const std::size_t count = cluster.machines().size();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      if (i != j) streams.push_back({.from = MachineId(i), .into = MachineId(j)});
    }
  }
  const RawRates rates = raw_rates(lab, streams, settings);
  if (!rates) return tl::unexpected(rates.error());
  std::vector<MachineRates> machines;
  for (std::size_t i = 0; i < count; ++i) {
    const Nic& nic = cluster.machine(MachineId(i)).nics.front();
    machines.push_back({MachineId(i), cluster.link(nic.out).rate, {}, cluster.link(nic.in).rate, {}});
  }
  for (std::size_t i = 0; i < streams.size(); ++i) {
    MachineRates& from = machines[streams[i].from.index()];
    MachineRates& into = machines[streams[i].into.index()];
    from.out = from.out + (*rates)[i];
    into.in = into.in + (*rates)[i];
  }
  return machines;
}

BytesPerSecond shaped_rate(const Cluster& cluster, MachineId from, MachineId into) {
  BytesPerSecond least = BytesPerSecond::unlimited();
  const Route route = cluster.route(from, Memory::host(0), 0, into, Memory::host(0), 0);
  for (const LinkId id : route.links) {
    const Link& link = cluster.link(id);
    if (link.kind == Link::Kind::kNic || link.kind == Link::Kind::kRack) least = std::min(least, link.rate);
  }
  return least;
}

}  // namespace weir
