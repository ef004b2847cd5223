#include "studies/real/measured.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "backends/real/job/pacing.h"
#include "backends/real/lab/raw_rate.h"
#include "backends/real/meters/plain_rate.h"
#include "backends/real/meters/sum_meter.h"
#include "backends/real/process/threads.h"
#include "core/simulate/engines/fair_rates.h"

namespace weir {
namespace {

constexpr Bytes kSummed(8 << 20);  // of each operand
constexpr Bytes kReused(1 << 20);  // buffers that plain connections reuse again and again

// Every machine sends to the next, all at once, from each NIC to the NIC of the same number, if there is one.
std::vector<real::RawFlow> neighbours(const Cluster& cluster) {
  std::vector<real::RawFlow> flows;
  const std::size_t machines = cluster.machines().size();
  for (std::size_t i = 0; i < machines && machines > 1; ++i) {
    const MachineId next((i + 1) % machines);
    const std::size_t nics =
        std::min(cluster.machine(MachineId(i)).nics.size(), cluster.machine(next).nics.size());
    for (int nic = 0; nic < static_cast<int>(nics); ++nic) flows.push_back({MachineId(i), next, nic, nic});
  }
  return flows;
}

// What one machine sums while all others do too.
Result<SumRates> measure_sums(const Planned& planned, int workers) {
  std::set<Dtype> dtypes;
  for (const Layer& layer : planned.experiment.trace.layers) {
    for (const Tensor& tensor : layer.tensors) dtypes.insert(tensor.dtype);
  }
  const auto machines = static_cast<std::int64_t>(planned.cluster.machines().size());
  const auto threads =
      static_cast<int>(std::min<std::int64_t>(machines * workers, std::ssize(real::allowed_cpus())));
  const auto meter = real::SumMeter::make({kSummed, 1, std::nullopt});
  if (!meter) return tl::unexpected(meter.error());
  const auto team = real::Team::make(threads, std::nullopt);
  if (!team) return tl::unexpected(team.error());
  constexpr int kSumRepetitions = 5;
  SumRates rates;
  for (const Dtype dtype : dtypes) {
    const BytesPerSecond all = (*meter)->measure(dtype, 1, **team, kSumRepetitions).rate;
    rates.by_dtype[dtype] = BytesPerSecond(std::max<std::int64_t>(all.value() / machines, 1));
  }
  return rates;
}

void set_sums(Topology& topology, const SumRates& rates) {
  for (GroupSpec& group : topology.groups) {
    for (NumaSpec& numa : group.numa) {
      numa.sum_rate = rates;
      numa.sum_rate_per_thread = {};
      numa.sum_threads = 0;
    }
  }
}

BytesPerSecond scaled(BytesPerSecond rate, double factor) {
  return rate.limited() ? BytesPerSecond(std::llround(static_cast<double>(rate.value()) * factor)) : rate;
}

void scale(Rates& rates, double factor) { rates = {scaled(rates.in, factor), scaled(rates.out, factor)}; }

Rates faster(const Rates& a, const Rates& b) { return {std::max(a.in, b.in), std::max(a.out, b.out)}; }

// The links on its way that a lab shapes.
Path shaped_path(const Cluster& cluster, const real::RawFlow& flow) {
  Path path;
  const Memory host = Memory::host(0);
  for (const LinkId id :
       cluster.route(flow.from, host, flow.from_nic, flow.into, host, flow.into_nic).links) {
    const Link& link = cluster.link(id);
    if (link.kind == Link::Kind::kNic || link.kind == Link::Kind::kRack) path.push_back({id});
  }
  return path;
}

}  // namespace

Topology faster(const Topology& a, const Topology& b) {
  Topology all = a;
  for (std::size_t g = 0; g < all.groups.size(); ++g) {
    GroupSpec& group = all.groups[g];
    const GroupSpec& other = b.groups[g];
    for (std::size_t i = 0; i < group.nics.size(); ++i)
      group.nics[i].rate = faster(group.nics[i].rate, other.nics[i].rate);
    for (std::size_t i = 0; i < group.numa.size(); ++i) {
      for (auto& [dtype, rate] : group.numa[i].sum_rate.by_dtype)
        rate = std::max(rate, other.numa[i].sum_rate.by_dtype.at(dtype));
    }
  }
  if (all.network.racks && all.network.racks->uplink)
    all.network.racks->uplink = faster(*all.network.racks->uplink, *b.network.racks->uplink);
  return all;
}

double difference(const Measured& a, const Measured& b) {
  const auto [least, most] = std::minmax(a.link, b.link);
  return static_cast<double>(most.value()) / static_cast<double>(std::max<std::int64_t>(least.value(), 1)) -
         1;
}

std::vector<double> nominal_rates(const Cluster& cluster, const std::vector<real::RawFlow>& flows) {
  std::vector<double> links;
  for (const Link& link : cluster.links()) links.push_back(static_cast<double>(link.rate.value()));
  std::vector<Path> paths;
  for (const real::RawFlow& flow : flows) paths.push_back(shaped_path(cluster, flow));
  std::vector<PathView> bounded;
  for (const Path& path : paths) {
    if (!path.empty()) bounded.push_back(path);
  }
  const std::vector<double> rates = fair_rates(links, bounded);
  std::vector<double> all;
  std::size_t next = 0;
  for (const Path& path : paths) all.push_back(path.empty() ? 0 : rates[next++]);
  return all;
}

Topology scaled(const Topology& topology, double factor) {
  Topology all = topology;
  for (GroupSpec& group : all.groups) {
    for (NicSpec& nic : group.nics) scale(nic.rate, factor);
  }
  if (all.network.racks && all.network.racks->uplink) scale(*all.network.racks->uplink, factor);
  return all;
}

Result<std::optional<Measured>> measure_lab(real::Lab& lab, const Planned& planned, int workers) {
  const Cluster& cluster = planned.cluster;
  const auto flows = neighbours(cluster);
  const std::vector<double> nominal = nominal_rates(cluster, flows);
  if (std::find(nominal.begin(), nominal.end(), 0.0) != nominal.end()) return std::optional<Measured>();
  if (flows.empty()) return std::optional<Measured>();
  real::RateSettings how;
  how.time = Duration(1'000'000'000);
  const auto rates = real::raw_rates(lab, flows, how);
  if (!rates) return tl::unexpected(rates.error());
  const auto sums = measure_sums(planned, workers);
  if (!sums) return tl::unexpected(sums.error());
  double factor = 0;  // measured / planned rate, on average
  for (std::size_t i = 0; i < rates->size(); ++i)
    factor += static_cast<double>((*rates)[i].value()) / nominal[i] / static_cast<double>(rates->size());
  Measured measured{*std::min_element(rates->begin(), rates->end()),
                    scaled(planned.experiment.topology, factor)};
  set_sums(measured.topology, *sums);
  return std::optional(std::move(measured));
}

Result<std::optional<Measured>> measure_host(const Planned& planned, int workers) {
  const std::size_t machines = planned.cluster.machines().size();
  if (machines < 2) return std::optional<Measured>();
  const auto rate = real::plain_rate({static_cast<int>(machines), false, kReused, Duration(400'000'000)});
  if (!rate) return tl::unexpected(rate.error());
  const auto sums = measure_sums(planned, workers);
  if (!sums) return tl::unexpected(sums.error());
  Measured measured{rate->least, planned.experiment.topology};
  for (GroupSpec& group : measured.topology.groups) {
    const int nics = std::max(nic_count(group), 1);
    for (NicSpec& nic : group.nics) {
      nic.latency = {};
      nic.rate.in = nic.rate.out = BytesPerSecond(measured.link.value() / nics);
    }
  }
  measured.topology.network = {};
  set_sums(measured.topology, *sums);
  return std::optional(std::move(measured));
}

Topology paced(const Topology& measured, const Planned& planned, double pace) {
  const double times = real::held_back(planned.plan, planned.cluster, pace, Cluster(measured));
  return scaled(measured, 1 / times);
}

}  // namespace weir
