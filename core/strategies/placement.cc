#include "core/strategies/placement.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>

namespace weir {
namespace {

constexpr double kSlack = 0.0005;  // a part may exceed what is left of a share by this fraction of the share
constexpr double kSmallestPiece =
    16384;  // bytes; a part is not cut into smaller ones, which would cost more than they gain

class Placer {
 public:
  Placer(const std::vector<double>& shares, Bytes total)
      : shares_(shares),
        total_(static_cast<double>(total.count())),
        phases_(phases(shares)),
        placed_(shares.size()),
        parts_of_(shares.size()) {}

  void place(Part part) {
    while (part.range.size > Bytes(0)) {
      const std::size_t owner = most_behind(part.range.size);
      const Bytes taken = fit(owner, part);
      Part piece = part;
      piece.range.size = taken;
      parts.push_back({piece, MachineId(owner), parts_of_[owner]++});
      placed_[owner] += static_cast<double>(taken.count());
      seen_ += static_cast<double>(taken.count());
      part.range.offset += taken;
      part.range.size -= taken;
    }
  }

  std::vector<PlacedPart> parts;

 private:
  double left(std::size_t machine) const { return shares_[machine] * total_ - placed_[machine]; }

  // Machines of equal shares would all lag most at the same time and be served in a burst, in which the
  // others starve. A head start of up to one part, different for each of them, spreads them out.
  static std::vector<double> phases(const std::vector<double>& shares) {
    std::map<double, double> equals;
    for (const double share : shares) ++equals[share];
    std::map<double, double> seen;
    std::vector<double> phases;
    for (const double share : shares) phases.push_back(seen[share]++ / equals[share]);
    return phases;
  }

  // Lags that differ by less than a hundredth of a part are equal: else sizes that differ by an element would
  // upset the even rhythm in which the machines take turns.
  std::size_t most_behind(Bytes next) const {
    const auto bytes = static_cast<double>(next.count());
    std::optional<std::size_t> best;
    double most = 0.0;
    for (const bool full_too : {false, true}) {
      for (std::size_t i = 0; i < shares_.size(); ++i) {
        if (shares_[i] == 0.0 || (left(i) < kSmallestPiece / 2 && !full_too)) continue;
        const double behind = shares_[i] * (seen_ + bytes) - placed_[i] + phases_[i] * bytes;
        if (best && behind <= most + 0.01 * bytes) continue;
        best = i;
        most = behind;
      }
      if (best) break;
    }
    return *best;
  }

  // The bytes of the part that the machine takes: what its share still allows, in whole elements, or all of
  // it.
  Bytes fit(std::size_t machine, const Part& part) const {
    const auto bytes = static_cast<double>(part.range.size.count());
    const double room = std::max(left(machine), kSmallestPiece);
    if (bytes <= room + kSlack * shares_[machine] * total_ || bytes - room < kSmallestPiece)
      return part.range.size;
    const std::int64_t element = size(part.dtype).count();
    return Bytes(static_cast<std::int64_t>(room) / element * element);
  }

  const std::vector<double>& shares_;
  double total_;
  double seen_ = 0.0;
  std::vector<double> phases_;  // fractions of a part
  std::vector<double> placed_;
  std::vector<std::size_t> parts_of_;
};

}  // namespace

std::vector<PlacedPart> place(const std::vector<Part>& parts, const std::vector<double>& shares) {
  Bytes total;
  for (const Part& part : parts) total += part.range.size;
  Placer placer(shares, total);
  for (const Part& part : parts) placer.place(part);
  return std::move(placer.parts);
}

std::vector<std::size_t> service_order(const Workload& workload, const std::vector<Part>& parts,
                                       Policy policy, Duration exchange) {
  std::vector<std::size_t> order;
  if (policy == Policy::kFifo) {
    for (std::size_t i = 0; i < parts.size(); ++i) order.push_back(i);
    return order;
  }
  std::vector<Duration> done(static_cast<std::size_t>(workload.layers()) + 1);
  for (int layer = workload.layers() - 1; layer >= 0; --layer) {
    done[static_cast<std::size_t>(layer)] =
        done[static_cast<std::size_t>(layer) + 1] + workload.layer(layer).backward;
  }
  const auto ready = [&](std::size_t i) { return done[static_cast<std::size_t>(parts[i].first_layer)]; };
  using Entry = std::pair<std::int64_t, std::size_t>;  // priority, index
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> waiting;
  const double per_byte =
      exchange.seconds() / static_cast<double>(std::max<std::int64_t>(1, workload.size().count()));
  Duration now;
  std::size_t next = 0;
  while (order.size() < parts.size()) {
    if (waiting.empty()) now = std::max(now, ready(next));
    while (next < parts.size() && ready(next) <= now) {
      waiting.emplace(parts[next].priority(), next);
      ++next;
    }
    const std::size_t served = waiting.top().second;
    waiting.pop();
    order.push_back(served);
    now += Duration::from_seconds(per_byte * static_cast<double>(parts[served].range.size.count()));
  }
  return order;
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
