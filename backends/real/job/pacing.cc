#include "backends/real/job/pacing.h"

#include <sys/socket.h>

#include <algorithm>
#include <cmath>

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
  Paces rates(plan.machines(), std::vector<BytesPerSecond>(plan.machines(), BytesPerSecond::unlimited()));
  const double busiest = seconds_of_busiest_link(plan, cluster, works);
  if (busiest == 0.0) return rates;
  std::vector<std::vector<double>> bytes(plan.machines(), std::vector<double>(plan.machines(), 0.0));
  for (const Op& op : plan.ops()) {
    if (op.kind != OpKind::kSend) continue;
    bytes[op.machine.index()][op.peer.index()] += static_cast<double>(op.from.size.count());
  }
  const auto takes = [&](OpId id) {
    const Op& op = plan.op(id);
    const Duration alone = works.shortest(id);
    if (op.kind != OpKind::kSend || op.from.size == Bytes(0)) return alone;
    const double share =
        static_cast<double>(op.from.size.count()) / bytes[op.machine.index()][op.peer.index()];
    return std::max(alone, Duration::from_seconds(share * busiest));
  };
  const Duration longer =
      critical_length(plan, takes) - critical_length(plan, [&](OpId id) { return works.shortest(id); });
  if (longer.seconds() > busiest / 2) return rates;
  for (std::size_t from = 0; from < plan.machines(); ++from) {
    for (std::size_t into = 0; into < plan.machines(); ++into) {
      const double sum = bytes[from][into];
      if (sum > 0) rates[from][into] = BytesPerSecond(std::llround(sum / busiest));
    }
  }
  return rates;
}

void pace(const std::vector<Channel>& channels, const std::vector<BytesPerSecond>& paces, double factor) {
  for (const Channel& channel : channels) {
    const BytesPerSecond rate = paces[channel.peer.index()];
    if (channel.memory != nullptr || !rate.limited()) continue;
    const auto most = static_cast<unsigned long>(static_cast<double>(rate.value()) * factor);
    // A kernel that does not pace sends as it did.
    [[maybe_unused]] const int failed =
        ::setsockopt(channel.data.number(), SOL_SOCKET, SO_MAX_PACING_RATE, &most, sizeof most);
  }
}

}  // namespace weir::real
