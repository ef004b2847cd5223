#include "backends/real/pacing.h"

#include <sys/socket.h>

#include <algorithm>
#include <cmath>

namespace weir::real {

std::vector<BytesPerSecond> paces(const Plan& plan, const Cluster& cluster, const WorkTable& works,
                                  MachineId self) {
  const std::vector<Bytes> loads = link_loads(plan, cluster, works);
  double busiest = 0.0;  // seconds
  for (const Link& link : cluster.links()) {
    if (!link.rate.limited()) continue;
    const auto load =
        static_cast<double>(loads[static_cast<std::size_t>(&link - cluster.links().data())].count());
    busiest = std::max(busiest, load / static_cast<double>(link.rate.value()));
  }
  std::vector<double> bytes(plan.machines(), 0.0);
  for (const Op& op : plan.ops(self)) {
    if (op.kind == OpKind::kSend) bytes[op.peer.index()] += static_cast<double>(op.from.size.count());
  }
  std::vector<BytesPerSecond> rates;
  for (const double sum : bytes) {
    const bool limited = sum > 0 && busiest > 0;
    rates.push_back(limited ? BytesPerSecond(std::llround(sum / busiest)) : BytesPerSecond::unlimited());
  }
  return rates;
}

void pace(const std::vector<Channel>& channels, const std::vector<BytesPerSecond>& paces, double factor) {
  for (const Channel& channel : channels) {
    const BytesPerSecond rate = paces[channel.peer.index()];
    if (channel.memory != nullptr || !rate.limited()) continue;
    const auto of_peer = std::count_if(channels.begin(), channels.end(),
                                       [&](const Channel& other) { return other.peer == channel.peer; });
    const auto each =
        static_cast<unsigned long>(static_cast<double>(rate.value()) * factor / static_cast<double>(of_peer));
    // A kernel that does not pace sends as it did.
    [[maybe_unused]] const int failed =
        ::setsockopt(channel.data.number(), SOL_SOCKET, SO_MAX_PACING_RATE, &each, sizeof each);
  }
}

}  // namespace weir::real
