#include "core/strategies/blocks/placement.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>

#include "core/strategies/blocks/nics.h"

namespace weir {
namespace {

// A part may exceed the rest of a share by this fraction of the share.
constexpr double kShareSlack = 0.0005;
// A part is not cut into pieces smaller than this fraction of a share, within the limits below: they would
// cost more than they gain.
constexpr double kSmallestPiece = 0.004;
constexpr double kFewestBytes = 256;
constexpr double kMostBytes = 16384;  // a piece of this size is never too small

class Placer {
 public:
  Placer(const std::vector<Summer>& summers, Bytes total)
      : summers_(summers),
        total_(static_cast<double>(total.count())),
        phases_(phases(summers)),
        placed_(summers.size()) {}

  void place(Part part) {
    while (part.range.size > Bytes(0)) {
      const std::size_t summer = most_behind(part.range.size);
      const Bytes taken = fit(summer, part);
      Part piece = part;
      piece.range.size = taken;
      const MachineId owner = summers_[summer].machine;
      parts.push_back({piece, owner, summers_[summer].nic, parts_of_[owner]++});
      placed_[summer] += static_cast<double>(taken.count());
      seen_ += static_cast<double>(taken.count());
      part.range.offset += taken;
      part.range.size -= taken;
    }
  }

  std::vector<PlacedPart> parts;

 private:
  double left(std::size_t i) const { return summers_[i].share * total_ - placed_[i]; }

  double smallest(std::size_t i) const {
    return std::clamp(kSmallestPiece * summers_[i].share * total_, kFewestBytes, kMostBytes);
  }

  // Summers with equal shares would all lag most at the same time. They would be served in a burst, while the
  // others starve. A different head start for each, of up to one part, spreads them out.
  static std::vector<double> phases(const std::vector<Summer>& summers) {
    std::map<double, double> equals;
    for (const Summer& summer : summers) ++equals[summer.share];
    std::map<double, double> seen;
    std::vector<double> phases;
    for (const Summer& summer : summers) phases.push_back(seen[summer.share]++ / equals[summer.share]);
    return phases;
  }

  // Lags that differ by less than a hundredth of a part count as equal. Otherwise sizes that differ by one
  // element would upset the even rhythm in which the machines take turns.
  std::size_t most_behind(Bytes next) const {
    const auto bytes = static_cast<double>(next.count());
    std::optional<std::size_t> best;
    double most = 0.0;
    for (const bool full_too : {false, true}) {
      for (std::size_t i = 0; i < summers_.size(); ++i) {
        if (left(i) < smallest(i) / 2 && !full_too) continue;
        const double behind = summers_[i].share * (seen_ + bytes) - placed_[i] + phases_[i] * bytes;
        if (best && behind <= most + 0.01 * bytes) continue;
        best = i;
        most = behind;
      }
      if (best) break;
    }
    return *best;
  }

  // The bytes of the part that the summer takes: all of them, or as many whole elements as its share still
  // allows.
  Bytes fit(std::size_t summer, const Part& part) const {
    const auto bytes = static_cast<double>(part.range.size.count());
    const double room = std::max(left(summer), smallest(summer));
    if (bytes <= room + kShareSlack * summers_[summer].share * total_ || bytes - room < smallest(summer))
      return part.range.size;
    const std::int64_t element = size(part.dtype).count();
    return Bytes(static_cast<std::int64_t>(room) / element * element);
  }

  const std::vector<Summer>& summers_;
  double total_;
  double seen_ = 0.0;
  std::vector<double> phases_;  // head starts, as fractions of a part
  std::vector<double> placed_;
  std::map<MachineId, std::size_t> parts_of_;
};

}  // namespace

std::vector<Summer> summers(const Cluster& cluster, const std::vector<double>& share_of_machine) {
  std::vector<Summer> summers;
  bool more = true;
  for (int nic = 0; more; ++nic) {
    more = false;
    for (std::size_t i = 0; i < share_of_machine.size(); ++i) {
      const std::vector<double> fractions = nic_fractions(cluster, MachineId(i));
      const auto index = static_cast<std::size_t>(nic);
      if (share_of_machine[i] == 0.0 || index >= fractions.size()) continue;
      summers.push_back({MachineId(i), nic, share_of_machine[i] * fractions[index]});
      more = true;
    }
  }
  return summers;
}

std::vector<PlacedPart> place(const std::vector<Part>& parts, const std::vector<Summer>& summers) {
  Bytes total;
  for (const Part& part : parts) total += part.range.size;
  Placer placer(summers, total);
  for (const Part& part : parts) placer.place(part);
  return std::move(placer.parts);
}

std::vector<std::size_t> service_order(const Workload& workload, const std::vector<Part>& parts,
                                       const Options& options, Duration exchange) {
  std::vector<std::size_t> order;
  if (options.policy == Policy::kFifo) {
    for (std::size_t i = 0; i < parts.size(); ++i) order.push_back(i);
    return order;
  }
  std::vector<Duration> done(static_cast<std::size_t>(workload.layers()) + 1);
  for (int layer = workload.layers() - 1; layer >= 0; --layer) {
    done[static_cast<std::size_t>(layer)] =
        done[static_cast<std::size_t>(layer) + 1] + workload.layer(layer).backward;
  }
  if (!options.overlap) std::fill(done.begin(), done.end(), done.front());
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

}  // namespace weir
