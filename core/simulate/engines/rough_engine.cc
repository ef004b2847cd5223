#include "core/simulate/engines/rough_engine.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/check.h"
#include "core/hardware/work.h"

namespace weir {
namespace {

constexpr double kRounding = 1e-9;  // of a link's rate: far above the error of many additions
// Limit on examinations of links in one instant, per link: far more than was ever observed.
constexpr std::size_t kMostLooks = 1000;

}  // namespace

RoughEngine::RoughEngine(const Plan& plan, const Cluster& cluster, double precision)
    : RoughEngine(reached_rates(plan, cluster), precision) {}

RoughEngine::RoughEngine(const std::vector<double>& rates, double precision)
    : precision_(precision), slack_(precision / 2), rates_(rates) {
  WEIR_CHECK(precision > 0.0 && precision < 1.0, precision);
  for (std::size_t i = 0; i < rates.size(); ++i)
    WEIR_CHECK(rates[i] > 0.0 && std::isfinite(rates[i]), i, rates[i]);
}

// Sets the link's bounds after it got its first held flow or lost its last one, or after its rate changed.
void RoughEngine::bound(std::uint32_t link) {
  const Shared& shared = links_[link];
  Use& use = uses_[link];
  const bool holds = shared.weight > 0;
  const double slack = slack_ * shared.rate + kRounding * shared.whole;
  if (shared.idle) {
    use.lower = holds ? kNever : -kNever;
    use.upper = kNever;
  } else {
    use.lower = holds ? shared.rate - slack : -kNever;
    use.upper = shared.rate + slack;
  }
  limits_[link] = holds && !shared.idle ? shared.level * (1 + slack_) : kNever;
  watch(link);
}

// Queues the link for examination if it breaks an invariant.
void RoughEngine::watch(std::uint32_t link) {
  const Use& use = uses_[link];
  if (use.used >= use.lower && use.used <= use.upper && use.most <= limits_[link]) return;
  if (!std::exchange(links_[link].queued, true)) queued_.push_back(link);
}

// The rate of each flow if these share what the others leave: all flows that get more, those that the link
// holds, and one more of weight `more`.
void RoughEngine::find(std::uint32_t number, int more, Taking& found) {
  found.flows.clear();
  const Shared& link = links_[number];
  Use& use = uses_[number];
  double room = link.rate - use.used + static_cast<double>(link.weight) * link.level;
  std::int64_t weight = link.weight + more;
  found.level = weight == 0 ? 0.0 : std::max(0.0, room / static_cast<double>(weight));
  found.most = use.most;
  if (weight > 0 && use.most <= found.level * (1 + slack_)) return;
  use.most = found.most = 0.0;
  for (const Seat& seat : link.flows) {
    if (flows_[seat.slot].holder == number) continue;
    const double rate = rate_of(seat.slot);
    use.most = std::max(use.most, rate);
    if (rate > found.level * (1 + slack_)) {
      found.flows.emplace_back(rate, seat);
    } else {
      found.most = std::max(found.most, rate);
    }
  }
  std::ranges::stable_sort(found.flows, std::greater<>(), &std::pair<double, Seat>::first);
  std::size_t taken = 0;
  for (; taken < found.flows.size(); ++taken) {
    const auto& [rate, seat] = found.flows[taken];
    if (weight > 0 && rate <= found.level * (1 + slack_)) {
      found.most = std::max(found.most, rate);
      break;
    }
    room += seat.weight * rate;
    weight += seat.weight;
    found.level = std::max(0.0, room / static_cast<double>(weight));
  }
  found.flows.erase(found.flows.begin() + static_cast<std::ptrdiff_t>(taken), found.flows.end());
}

// Gives this level to the flows that the link holds, and takes over the flows found for it.
void RoughEngine::take_in(std::uint32_t link, const Taking& found) {
  uses_[link].most = found.most;
  set_level(link, found.level);
  for (const auto& [rate, seat] : found.flows) move(seat.slot, link);
}

void RoughEngine::set_level(std::uint32_t link, double level) {
  Shared& shared = links_[link];
  count(shared);
  const double by = level - shared.level;
  shared.level = level;
  if (shared.weight > 0 && !shared.idle) limits_[link] = level * (1 + slack_);
  if (!std::exchange(shared.moved, true)) moved_.push_back(link);
  for (const Hop& hop : shared.others) change(hop, by, level);
  uses_[link].used += static_cast<double>(shared.weight) * by;
  watch(link);
}

// The link is underused. Its flows that other links hold down more move to those links.
void RoughEngine::raise(std::uint32_t link) {
  Shared& shared = links_[link];
  double level = 0.0;
  for (bool moved = true; moved;) {
    moved = false;
    if (shared.weight == 0) return;
    level = (shared.rate - uses_[link].used) / static_cast<double>(shared.weight) + shared.level;
    for (std::size_t i = shared.held.size(); i-- > 0;) {
      std::uint32_t lowest = link;
      double least = level;
      for (const Hop& hop : std::span(shared.others).subspan(i * width_, width_)) {
        if (limits_[hop.link] >= least) continue;
        least = links_[hop.link].level;
        lowest = hop.link;
      }
      if (lowest == link) continue;
      move(shared.held[i].slot, lowest);
      moved = true;
    }
  }
  set_level(link, level);
}

// The link of the flow's path that gives it the least now holds it.
void RoughEngine::place(Fresh flow) {
  least_.level = kNever;
  std::uint32_t holder = kNone;
  for (const Hop& hop : hops(flow.slot)) {
    if (links_[hop.link].idle) continue;
    find(hop.link, hop.weight, found_);
    if (found_.level >= least_.level) continue;
    holder = hop.link;
    std::swap(least_, found_);
  }
  WEIR_CHECK(holder != kNone, flows_[flow.slot].id);
  take_in(holder, least_);
  hold(flow, holder);
  change(flow.slot, links_[holder].level);
}

// The link cannot bind any more: its flows move to other links.
void RoughEngine::evict(std::uint32_t link) {
  while (!links_[link].held.empty()) {
    const Slot slot = links_[link].held.back().slot;
    const double rate = rate_of(slot);
    const Fresh flow = release(slot);
    change(slot, -rate);
    place(flow);
  }
}

void RoughEngine::settle(std::uint32_t link) {
  Shared& shared = links_[link];
  if (shared.idle) return evict(link);
  const Use& use = uses_[link];
  if (use.used > use.upper || (use.used >= use.lower && use.most > limits_[link])) {
    find(link, 0, found_);
    take_in(link, found_);
    // Any remaining excess is a rounding error from rates far above the link's own; a fresh count removes it.
    if (use.used > use.upper) recount(link);
  } else if (use.used < use.lower) {
    raise(link);
  }
}

void RoughEngine::share() {
  for (const Fresh& flow : fresh_) place(flow);
  fresh_.clear();
  for (std::size_t i = 0; i < queued_.size(); ++i) {
    WEIR_CHECK(i < kMostLooks * links_.size(), i, now_);
    links_[queued_[i]].queued = false;
    settle(queued_[i]);
  }
  queued_.clear();
  for (const std::uint32_t link : moved_) schedule(link);
  moved_.clear();
}

void RoughEngine::schedule(std::uint32_t link) {
  Shared& shared = links_[link];
  shared.moved = false;
  if (shared.held.empty() || shared.level == 0.0) return ends_.set(link, kNever);
  if (std::exchange(shared.lost, false)) {
    const auto first = std::ranges::min_element(shared.held, {}, &Held::due);
    shared.first = static_cast<std::uint32_t>(first - shared.held.begin());
  }
  const double left = std::max(0.0, shared.held[shared.first].due - shared.count);
  ends_.set(link, shared.since + left / shared.level);
}

std::optional<std::uint32_t> RoughEngine::coming() const {
  if (ends_.time() == kNever && first_timer().at == kNever) return std::nullopt;
  if (first_timer().at <= ends_.time()) return first_timer().id;
  const Shared& link = links_[ends_.thing()];
  return flows_[link.held[link.first].slot].id;
}

void RoughEngine::end_flows(double by, std::vector<std::uint32_t>& ended) {
  while (ends_.time() <= by) {
    const auto link = static_cast<std::uint32_t>(ends_.thing());
    const Slot slot = links_[link].held[links_[link].first].slot;
    ended.push_back(flows_[slot].id);
    remove(slot);
    schedule(link);
  }
  for (const std::uint32_t link : moved_) links_[link].moved = false;
  moved_.clear();
}

}  // namespace weir
