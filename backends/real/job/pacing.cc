#include "backends/real/job/pacing.h"

#include <sys/socket.h>

#include <algorithm>
#include <cmath>

#include "backends/real/transport.h"
#include "core/strategies/critical_path.h"

namespace weir::real {
namespace {

double seconds_of_busiest_link(const Plan& plan, const Cluster& cluster, const WorkTable& works) {
  const std::vector<Bytes> loads = link_loads(plan, cluster, works);
  double busiest = 0.0;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const Link& link = cluster.links()[i];
    if (!link.rate.limited()) continue;
    busiest =
        std::max(busiest, static_cast<double>(loads[i].count()) / static_cast<double>(link.rate.value()));
  }
  return busiest;
}

}  // namespace

Paces paces(const Plan& plan, const Cluster& cluster, const WorkTable& works) {
  Paces rates(plan.machines());
  const double busiest = seconds_of_busiest_link(plan, cluster, works);
  if (busiest == 0.0) return rates;
  std::vector<std::map<Lane, double>> bytes(plan.machines());
  const auto of_lane = [&](const Op& send) -> double& {
    return bytes[send.machine.index()][lane_of(plan, send)];
  };
  for (const Op& op : plan.ops()) {
    if (op.kind == OpKind::kSend) of_lane(op) += static_cast<double>(op.from.size.count());
  }
  const auto alone = [&](OpId id) { return works.shortest(id); };
  const auto paced = [&](OpId id) {
    const Op& op = plan.op(id);
    if (op.kind != OpKind::kSend || op.from.size == Bytes(0)) return alone(id);
    const double share = static_cast<double>(op.from.size.count()) / of_lane(op);
    return std::max(alone(id), Duration::from_seconds(share * busiest));
  };
  const Duration longer = critical_length(plan, paced) - critical_length(plan, alone);
  if (longer.seconds() > busiest / 2) return rates;
  for (std::size_t machine = 0; machine < plan.machines(); ++machine) {
    for (const auto& [lane, sum] : bytes[machine]) {
      if (sum > 0) rates[machine].emplace(lane, BytesPerSecond(std::llround(sum / busiest)));
    }
  }
  return rates;
}

void pace(const std::vector<Channel>& channels, const std::map<Lane, BytesPerSecond>& paces, double factor) {
  for (const Channel& channel : channels) {
    const auto rate = paces.find(channel.lane);
    if (channel.memory != nullptr || rate == paces.end()) continue;
    const auto most = static_cast<unsigned long>(static_cast<double>(rate->second.value()) * factor);
    // A kernel that does not pace sends as it did.
    [[maybe_unused]] const int failed =
        ::setsockopt(channel.data.number(), SOL_SOCKET, SO_MAX_PACING_RATE, &most, sizeof most);
  }
}

}  // namespace weir::real
