#include "backends/real/job/pacing.h"

#include <sys/socket.h>

#include <algorithm>
#include <cmath>

#include "backends/real/transport/wires.h"
#include "backends/real/wire/pieces.h"
#include "core/analysis/critical_path.h"

namespace weir::real {
namespace {

// A kernel sends 64 KiB, then waits for a timer. If it waited too long, it makes up for half of that at most.
// Measured between namespaces of virtual machines: it keeps paces of 3.3 Gbps, but misses 25 Gbps by far.
constexpr BytesPerSecond kFastestByKernel(500'000'000);

constexpr int kConnectionsOfThread = 2;  // so that threads have similar shares of the bytes

BytesPerSecond times(BytesPerSecond rate, double factor) {
  return BytesPerSecond(std::llround(static_cast<double>(rate.value()) * factor));
}

// A paced lane that is idle for a while never catches up, so each lane should have many messages. A pace may
// delay a message by at most this fraction of the busiest link's time.
constexpr double kMostOfMessage = 0.1;

bool any(const Link& /*link*/) { return true; }

bool of_network(const Link& link) { return link.kind == Link::Kind::kNic || link.kind == Link::Kind::kRack; }

double seconds_of_busiest_link(const Plan& plan, const Cluster& cluster, const WorkTable& works,
                               bool (*among)(const Link&)) {
  const std::vector<Bytes> loads = link_loads(plan, cluster, works);
  double busiest = 0.0;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const Link& link = cluster.links()[i];
    if (!link.rate.limited() || !among(link)) continue;
    busiest =
        std::max(busiest, static_cast<double>(loads[i].count()) / static_cast<double>(link.rate.value()));
  }
  return busiest;
}

bool goes_in_pieces(const Plan& plan) {
  return std::any_of(plan.messages().begin(), plan.messages().end(), [&](const MessageEnds& ends) {
    return plan.op(ends.send).from.size > Pieces::kLargestWhole;
  });
}

}  // namespace

Paces paces(const Plan& plan, const Cluster& cluster, const WorkTable& works) {
  Paces rates(plan.machines());
  if (!plan.paced()) return rates;
  const double busiest = seconds_of_busiest_link(plan, cluster, works, any);
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
  const auto held_up_long = [&](const Op& op) {
    return (paced(op.id) - alone(op.id)).seconds() > kMostOfMessage * busiest;
  };
  if (std::any_of(plan.ops().begin(), plan.ops().end(), held_up_long)) return rates;
  const Duration longer = critical_length(plan, paced) - critical_length(plan, alone);
  if (longer.seconds() > busiest / 2) return rates;
  for (std::size_t machine = 0; machine < plan.machines(); ++machine) {
    for (const auto& [lane, sum] : bytes[machine]) {
      if (sum > 0) rates[machine].emplace(lane, BytesPerSecond(std::llround(sum / busiest)));
    }
  }
  return rates;
}

double held_back(const Plan& plan, const Cluster& cluster, double factor, const Cluster& there) {
  const WorkTable works(plan, cluster);
  const Paces rates = paces(plan, cluster, works);
  const bool none = std::all_of(rates.begin(), rates.end(), [](const auto& own) { return own.empty(); });
  const double alone = seconds_of_busiest_link(plan, there, WorkTable(plan, there), of_network);
  if (none || alone == 0.0) return 1.0;
  return std::max(1.0, seconds_of_busiest_link(plan, cluster, works, any) / factor / alone);
}

void pace(std::vector<Channel>& channels, const std::map<Lane, BytesPerSecond>& paces, double factor) {
  std::map<Lane, std::vector<Channel*>> lanes;
  for (Channel& channel : channels) {
    if (wire_of(channel).traits.paced) lanes[channel.lane].push_back(&channel);
  }
  for (const auto& [lane, among] : lanes) {
    const auto own = paces.find(lane);
    if (own == paces.end()) continue;
    const BytesPerSecond most = times(own->second, factor);
    if (among.size() > 1 || most > kFastestByKernel) {
      const auto shared = std::make_shared<Pace>(most);
      for (Channel* channel : among) channel->pace = shared;
      continue;
    }
    const auto rate = static_cast<unsigned long>(most.value());
    // If the kernel cannot pace, it sends as before.
    [[maybe_unused]] const int failed =
        ::setsockopt(among.front()->data.number(), SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof rate);
  }
}

int channels_for(const Plan& plan, const Cluster& cluster, int threads, double factor) {
  if (threads == 1) return 1;
  std::size_t fewest = 0;  // lanes of a machine, among those with any
  for (std::size_t machine = 0; machine < plan.machines(); ++machine) {
    const std::size_t own = lanes_of(plan, MachineId(machine)).size();
    if (own > 0 && (fewest == 0 || own < fewest)) fewest = own;
  }
  if (factor > 0) {
    BytesPerSecond fastest(0);
    for (const auto& machine : paces(plan, cluster, WorkTable(plan, cluster))) {
      for (const auto& [lane, rate] : machine) fastest = std::max(fastest, times(rate, factor));
    }
    const bool paced = fastest > BytesPerSecond(0);
    if (paced && fastest <= kFastestByKernel) return 1;
    // Pieces have equal sizes, but connections without pace have unequal speeds.
    if (!paced && fewest > 1 && goes_in_pieces(plan)) return 1;
  }
  constexpr int kMost = 4;
  const int lanes = std::max(1, static_cast<int>(fewest));
  return std::clamp((kConnectionsOfThread * threads + lanes - 1) / lanes, 1, kMost);
}

}  // namespace weir::real
