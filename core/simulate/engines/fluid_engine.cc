#include "core/simulate/engines/fluid_engine.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "core/hardware/work.h"

namespace weir {
namespace {

constexpr double kSame = 1e-12;  // relative; more than rounding errors of an unchanged rate

}  // namespace

FluidEngine::FluidEngine(const Plan& plan, const Cluster& cluster)
    : FluidEngine(reached_rates(plan, cluster)) {}

FluidEngine::FluidEngine(const std::vector<double>& rates) : links_(rates.size()) {
  for (std::size_t i = 0; i < rates.size(); ++i) {
    WEIR_CHECK(rates[i] > 0.0 && std::isfinite(rates[i]), i, rates[i]);
    links_[i].rate = links_[i].whole = rates[i];
  }
}

Result<void> FluidEngine::set_paths(const Paths& paths, const Binding& binding) {
  WEIR_CHECK(paths_ == nullptr);
  paths_ = &paths;
  binding_ = &binding;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    covered_.emplace_back(binding.covers[i]);
    links_[i].idle = !covered_[i].none();
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto length = static_cast<std::size_t>(std::ranges::count_if(
        paths[i], [&](const LinkUse& use) { return !binding.never[use.link.index()]; }));
    WEIR_CHECK(length > 0, i);
    longest_ = std::max(longest_, length);
  }
  return {};
}

void FluidEngine::start_flow(std::uint32_t id, int path, Bytes bytes) {
  WEIR_CHECK(bytes > Bytes(0) && path >= 0 && static_cast<std::size_t>(path) < paths_->size(), id, path,
             bytes.count());
  if (vacant_.empty()) {
    vacant_.push_back(static_cast<Slot>(flows_.size()));
    flows_.emplace_back();
    hops_.resize(hops_.size() + longest_);
    ends_.grow(flows_.size());
  }
  const Slot slot = vacant_.back();
  vacant_.pop_back();
  Flow& flow = flows_[slot];
  flow.id = id;
  flow.left = static_cast<double>(bytes.count());
  flow.since = now_;
  flow.rate = 0.0;
  flow.bottleneck = kNone;
  flow.hops = 0;
  const PathView uses = (*paths_)[static_cast<std::size_t>(path)];
  for (const auto& [number, weight] : uses) {
    if (binding_->never[number.index()]) continue;
    Shared& link = links_[number.index()];
    const auto seat = static_cast<std::uint32_t>(link.flows.size());
    link.flows.push_back({slot, weight});
    link.weight += weight;
    hops_[slot * longest_ + flow.hops++] = {number.value(), weight, seat, enter(number, uses)};
  }
  fresh_.push_back(slot);
  ++running_flows_;
}

// A flow arrives on a link. Returns the cover that the flow counts for.
std::uint32_t FluidEngine::enter(LinkId link, PathView path) {
  CoverCount& covered = covered_[link.index()];
  if (covered.none()) return 0;
  const std::uint32_t cover = covered.cover_of(path);
  Shared& shared = links_[link.index()];
  if (covered.enter(cover) && shared.idle && covered.possible() > shared.rate) {
    shared.idle = false;
    shared.used = shared.most = 0.0;
    for (const Seat& seat : shared.flows) {
      const double rate = flows_[seat.slot].rate;
      shared.used += seat.weight * rate;
      shared.most = std::max(shared.most, rate);
    }
  }
  return cover;
}

// A flow leaves a link that has covers.
void FluidEngine::leave(const Hop& hop) {
  CoverCount& covered = covered_[hop.link];
  Shared& shared = links_[hop.link];
  if (covered.leave(hop.cover) && !shared.idle) shared.idle = covered.possible() <= shared.rate;
}

void FluidEngine::remove(Slot slot) {
  Flow& flow = flows_[slot];
  for (const Hop& hop : hops(slot)) {
    Shared& link = links_[hop.link];
    const Seat last = link.flows.back();
    link.flows[hop.seat] = last;
    const std::span<Hop> its = hops(last.slot);
    std::find_if(its.begin(), its.end(), [&](const Hop& other) { return other.link == hop.link; })->seat =
        hop.seat;
    link.flows.pop_back();
    link.weight -= hop.weight;
    link.used = link.flows.empty() ? 0.0 : link.used - hop.weight * flow.rate;
    if (!std::exchange(link.left, true)) left_.push_back(hop.link);
    if (!covered_[hop.link].none()) leave(hop);
  }
  --links_[flow.bottleneck].held;
  ends_.set(slot, Earliest::kNever);
  vacant_.push_back(slot);
  --running_flows_;
}

void FluidEngine::scale_link(LinkId link, double factor) {
  WEIR_CHECK(factor >= 0.0 && factor <= 1.0, link, factor);
  Shared& shared = links_[link.index()];
  shared.rate = factor * shared.whole;
  scaled_.push_back(link.value());
}

void FluidEngine::concern(Slot slot) {
  Flow& flow = flows_[slot];
  if (std::exchange(flow.visit, visit_) == visit_) return;
  const auto first = static_cast<std::uint32_t>(met_hops_.size());
  for (const Hop& hop : hops(slot)) {
    Shared& link = links_[hop.link];
    if (link.idle) continue;
    if (std::exchange(link.visit, visit_) != visit_) {
      link.met = static_cast<std::uint32_t>(met_.size());
      met_.push_back({.link = hop.link, .rate = link.rate});
    }
    ++met_[link.met].flows;
    met_hops_.push_back({link.met, hop.weight});
  }
  concerned_.push_back({.slot = slot,
                        .first = first,
                        .hops = static_cast<std::uint32_t>(met_hops_.size()) - first,
                        .bottleneck = flow.bottleneck,
                        .rate = flow.rate});
}

void FluidEngine::concern_held(std::uint32_t link) {
  for (const Seat& seat : links_[link].flows) {
    if (flows_[seat.slot].bottleneck == link) concern(seat.slot);
  }
}

// Frees the rates of the concerned flows; all others keep theirs.
void FluidEngine::prepare() {
  std::uint32_t first = 0;
  for (Met& met : met_) {
    met.first = std::exchange(first, first + met.flows);
    met.seats = 0;
    met.room = met.rate - links_[met.link].used;
    met.open = 0;
  }
  met_seats_.resize(first);
  for (std::uint32_t i = 0; i < concerned_.size(); ++i) {
    Concerned& flow = concerned_[i];
    flow.open = true;
    for (const auto& [number, weight] : hops(flow)) {
      Met& met = met_[number];
      met_seats_[met.first + met.seats++] = {i, weight};
      met.room += weight * flow.rate;
      met.open += weight;
    }
  }
  for (Met& met : met_) {
    if (met.open == links_[met.link].weight) met.room = met.rate;
  }
}

// Progressive filling, link by link. The link that fills up first determines the rate of its open flows; the
// other links keep what these do not use. Only few links matter here, so a scan finds the next one faster
// than any maintained order would.
void FluidEngine::fill() {
  const auto level = [](const Met& met) {
    return met.open == 0 ? Earliest::kNever : std::max(0.0, met.room) / static_cast<double>(met.open);
  };
  levels_.clear();
  for (const Met& met : met_) levels_.push_back(level(met));
  for (std::size_t open = concerned_.size(); open > 0;) {
    const auto lowest = std::ranges::min_element(levels_);
    const Met& full = met_[static_cast<std::size_t>(lowest - levels_.begin())];
    const double share = *lowest;
    for (const Seat& seat : seats(full)) {
      Concerned& flow = concerned_[seat.slot];
      if (!std::exchange(flow.open, false)) continue;
      --open;
      flow.next = share;
      flow.next_bottleneck = full.link;
      for (const auto& [number, weight] : hops(flow)) {
        Met& met = met_[number];
        met.room -= weight * share;
        met.open -= weight;
        levels_[number] = level(met);
      }
    }
  }
}

// Adds flows to the computation: flows that would keep their rate but lose their bottleneck, and flows that
// get more of a link than the flows whose bottleneck it is. Returns whether there were any.
bool FluidEngine::widen() {
  const std::size_t before = concerned_.size();
  const std::size_t links = met_.size();
  for (std::size_t i = 0; i < links; ++i) {
    const Met met = met_[i];
    Shared& link = links_[met.link];
    if (met.flows == link.flows.size()) continue;
    double most = 0.0;
    double level = Earliest::kNever;  // rate of the flows whose bottleneck it will be
    std::size_t held = link.held;     // number of other flows whose bottleneck it is
    for (const Seat& seat : seats(met)) {
      const Concerned& flow = concerned_[seat.slot];
      most = std::max(most, flow.next);
      if (flow.next_bottleneck == met.link) level = std::min(level, flow.next);
      if (flow.bottleneck == met.link) --held;
    }
    const bool full = met.room <= kSame * met.rate;
    if (held > 0 && (!full || most > link.level * (1 + kSame))) concern_held(met.link);
    if (level < link.most * (1 - kSame)) {
      link.most = 0.0;
      for (const Seat& seat : link.flows) {
        const double rate = flows_[seat.slot].rate;
        link.most = std::max(link.most, rate);
        if (level < rate * (1 - kSame)) concern(seat.slot);
      }
    }
  }
  return concerned_.size() > before;
}

void FluidEngine::set_rate(const Concerned& concerned) {
  const double next = concerned.next;
  Flow& flow = flows_[concerned.slot];
  if (flow.bottleneck != kNone) --links_[flow.bottleneck].held;
  flow.bottleneck = concerned.next_bottleneck;
  Shared& bottleneck = links_[flow.bottleneck];
  ++bottleneck.held;
  bottleneck.level = next;
  if (std::abs(next - flow.rate) <= kSame / 10 * flow.rate) return;
  for (const auto& [number, weight] : hops(concerned)) {
    Shared& link = links_[met_[number].link];
    link.used += weight * (next - flow.rate);
    link.most = std::max(link.most, next);
  }
  flow.left -= flow.rate * (now_ - flow.since);
  flow.since = now_;
  flow.rate = next;
  ends_.set(concerned.slot, next > 0.0 ? now_ + std::max(0.0, flow.left) / next : Earliest::kNever);
}

void FluidEngine::share() {
  if (fresh_.empty() && left_.empty() && scaled_.empty()) return;
  ++visit_;
  concerned_.clear();
  met_hops_.clear();
  met_.clear();
  for (const Slot slot : fresh_) concern(slot);
  for (const std::uint32_t link : left_) {
    links_[link].left = false;
    if (links_[link].held > 0) concern_held(link);
  }
  for (const std::uint32_t link : scaled_) {
    for (const Seat& seat : links_[link].flows) concern(seat.slot);
  }
  fresh_.clear();
  left_.clear();
  scaled_.clear();
  do {
    prepare();
    fill();
  } while (widen());
  for (const Concerned& flow : concerned_) set_rate(flow);
  for (const Met& met : met_) {
    Shared& link = links_[met.link];
    if (link.held > 0) link.most = link.level;
  }
}

void FluidEngine::end_flows(double by, std::vector<std::uint32_t>& ended) {
  while (ends_.time() <= by) {
    const auto slot = static_cast<Slot>(ends_.thing());
    ended.push_back(flows_[slot].id);
    remove(slot);
  }
}

}  // namespace weir
