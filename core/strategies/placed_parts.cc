#include "core/strategies/placed_parts.h"

#include <algorithm>
#include <map>

#include "core/strategies/blocks/nics.h"

namespace weir {
namespace {

// The fraction of an iteration that may be spent on filling and draining the pipeline from push to pull.
constexpr double kFill = 0.007;
// The largest fraction of a NIC's traffic that one part may be, if the machine has several NICs.
constexpr double kImbalance = 0.01;
// How long filling and draining takes, in units of the time in which a NIC sends one part to each of its
// peers (measured: 3 to 5).
constexpr double kFillRounds = 4.5;

Duration exchange_time(const Workload& workload, const Shares& shares) {
  return Duration::from_seconds(shares.seconds_per_byte * static_cast<double>(workload.size().count()));
}

// The largest part size for which no NIC of a machine carries much more than its fraction. It matters only if
// some machine has several NICs.
Bytes balanced_part_size(const Cluster& cluster, const Workload& workload, const Options& options) {
  std::size_t nics = 1;
  for (const Machine& machine : cluster.machines()) nics = std::max(nics, machine.nics.size());
  if (nics == 1) return options.partition_size;
  const auto fraction = static_cast<double>(workload.size().count()) / static_cast<double>(nics);
  return Bytes(static_cast<std::int64_t>(kImbalance * fraction));
}

// The largest part size that fills the pipeline early enough. A part's sum can go back only when all workers'
// bytes of it have arrived. These arrive in parallel with other owners' parts, so about one part for each
// peer passes before the way back has anything to do.
Bytes pipelined_part_size(const Cluster& cluster, const Workload& workload, const Options& options,
                          Duration exchange) {
  const std::size_t peers = std::max<std::size_t>(1, cluster.machines().size() - 1);
  const double iteration = std::max(exchange, compute_time(workload.trace())).seconds();
  const double seconds_each = kFill * iteration / (kFillRounds * static_cast<double>(peers));
  const double seconds_per_byte = time_at_nics(cluster, Bytes(1'000'000'000)).seconds() / 1e9;
  if (seconds_per_byte == 0.0) return options.partition_size;
  return Bytes(static_cast<std::int64_t>(seconds_each / seconds_per_byte));
}

}  // namespace

Bytes part_size(const Cluster& cluster, const Workload& workload, const Options& options,
                const Shares& shares) {
  const Bytes fine =
      std::min(balanced_part_size(cluster, workload, options),
               pipelined_part_size(cluster, workload, options, exchange_time(workload, shares)));
  return std::clamp(fine, std::min(options.finest_part, options.partition_size), options.partition_size);
}

std::vector<PlacedPart> balanced_parts(const Cluster& cluster, const Workload& workload,
                                       const Options& options, const Shares& shares) {
  const std::vector<Part> parts = workload.partition(part_size(cluster, workload, options, shares));
  std::vector<Part> ordered;
  for (const std::size_t i : service_order(workload, parts, options, exchange_time(workload, shares)))
    ordered.push_back(parts[i]);
  return place(ordered, summers(cluster, shares.of_machine));
}

std::vector<PlacedPart> assigned_parts(const Cluster& cluster, const Workload& workload,
                                       const Options& options, const Shares& shares,
                                       const std::vector<Assigned>& assigned) {
  std::vector<Part> parts;
  for (const Assigned& part : assigned) parts.push_back(part.part);
  NicTurns nics(cluster);
  std::map<MachineId, std::size_t> owned;
  std::vector<PlacedPart> placed;
  for (const std::size_t i : service_order(workload, parts, options, exchange_time(workload, shares))) {
    const MachineId owner = assigned[i].owner;
    placed.push_back({parts[i], owner, nics.take(owner, parts[i].range.size), owned[owner]++});
  }
  return placed;
}

}  // namespace weir
