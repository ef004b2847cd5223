#include "core/fluid/fluid_engine.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/check.h"
#include "core/fluid/redundant_links.h"
#include "core/fluid/work.h"

namespace weir {
namespace {

constexpr double kInstant = 1e-12;  // seconds: doubles tell no less apart after an hour and many additions
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kSame = 1e-12;  // of a rate: more than rounding makes of one that has not changed
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

FluidEngine::FluidEngine(const Plan& plan, const Cluster& cluster)
    : FluidEngine(reached_rates(plan, cluster)) {}

FluidEngine::FluidEngine(const std::vector<double>& rates) : links_(rates.size()) {
  for (std::size_t i = 0; i < rates.size(); ++i) {
    WEIR_CHECK(rates[i] > 0.0 && std::isfinite(rates[i]), i, rates[i]);
    links_[i].rate = links_[i].whole = rates[i];
  }
}

Result<void> FluidEngine::set_paths(std::span<const Path> paths, const std::vector<bool>& varies) {
  WEIR_CHECK(paths_.empty());
  std::vector<double> rates;
  for (const Shared& link : links_) rates.push_back(link.rate);
  const std::vector<bool> redundant = redundant_links(rates, paths, varies);
  paths_.assign(paths.begin(), paths.end());
  for (Path& path : paths_) {
    std::erase_if(path, [&](const LinkUse& use) { return redundant[use.link.index()]; });
    WEIR_CHECK(!path.empty());
  }
  return {};
}

void FluidEngine::start_flow(std::uint32_t id, int path, Bytes bytes) {
  WEIR_CHECK(bytes > Bytes(0) && path >= 0 && static_cast<std::size_t>(path) < paths_.size(), id, path,
             bytes.count());
  if (vacant_.empty()) {
    vacant_.push_back(static_cast<Slot>(flows_.size()));
    flows_.emplace_back();
  }
  const Slot slot = vacant_.back();
  vacant_.pop_back();
  Flow& flow = flows_[slot];
  flow.id = id;
  flow.path = path;
  flow.left = static_cast<double>(bytes.count());
  flow.since = now_;
  flow.rate = 0.0;
  flow.bottleneck = kNone;
  ++flow.change;
  flow.seats.clear();
  for (const LinkUse& use : path_of(flow)) {
    Shared& link = links_[use.link.index()];
    flow.seats.push_back(static_cast<std::uint32_t>(link.flows.size()));
    link.flows.push_back({slot, use.weight});
    link.weight += use.weight;
  }
  fresh_.push_back(slot);
  ++under_way_;
}

void FluidEngine::remove(Slot slot) {
  Flow& flow = flows_[slot];
  const std::span<const LinkUse> path = path_of(flow);
  for (std::size_t i = 0; i < path.size(); ++i) {
    Shared& link = links_[path[i].link.index()];
    const Seat last = link.flows.back();
    link.flows[flow.seats[i]] = last;
    const std::span<const LinkUse> its = path_of(flows_[last.slot]);
    const auto at =
        std::find_if(its.begin(), its.end(), [&](const LinkUse& use) { return use.link == path[i].link; });
    flows_[last.slot].seats[static_cast<std::size_t>(at - its.begin())] = flow.seats[i];
    link.flows.pop_back();
    link.weight -= path[i].weight;
    link.used = link.flows.empty() ? 0.0 : link.used - path[i].weight * flow.rate;
    if (!std::exchange(link.left, true)) left_.push_back(path[i].link.value());
  }
  --links_[flow.bottleneck].held;
  ++flow.change;
  vacant_.push_back(slot);
  --under_way_;
}

void FluidEngine::start_timer(std::uint32_t id, Duration duration) {
  WEIR_CHECK(duration >= Duration(0), id, duration.ns());
  timers_.push({now_ + duration.seconds(), id});
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
  concerned_flows_.push_back(slot);
  for (const LinkUse& use : path_of(flow)) {
    Shared& link = links_[use.link.index()];
    if (std::exchange(link.visit, visit_) != visit_) {
      link.concerned.clear();
      concerned_.push_back(use.link.value());
    }
    link.concerned.push_back({slot, use.weight});
  }
}

void FluidEngine::concern_held(std::uint32_t link) {
  for (const Seat& seat : links_[link].flows) {
    if (flows_[seat.slot].bottleneck == link) concern(seat.slot);
  }
}

// Rates of the concerned flows are open; others keep what they take.
void FluidEngine::prepare() {
  for (const Slot slot : concerned_flows_) flows_[slot].open = true;
  for (const std::uint32_t number : concerned_) {
    Shared& link = links_[number];
    link.room = link.rate - link.used;
    link.open = 0;
    for (const Seat& seat : link.concerned) {
      link.room += seat.weight * flows_[seat.slot].rate;
      link.open += seat.weight;
    }
    if (link.open == link.weight) link.room = link.rate;
  }
}

// Progressive filling, link by link: the one that is full first says what its open flows get, and leaves the
// others what these do not take.
void FluidEngine::fill() {
  const auto level = [&](std::uint32_t link) {
    return Level{std::max(0.0, links_[link].room) / static_cast<double>(links_[link].open), link};
  };
  std::vector<Level> first;
  for (const std::uint32_t link : concerned_) first.push_back(level(link));
  Soonest<Level> levels(std::greater<>(), std::move(first));
  while (!levels.empty()) {
    const Level lowest = levels.top();
    levels.pop();
    const Shared& full = links_[lowest.link];
    if (full.open == 0) continue;
    // A level that was written down before flows of the link were given theirs is too low, never too high.
    const Level now = level(lowest.link);
    if (now.value > lowest.value) {
      levels.push(now);
      continue;
    }
    for (const Seat& seat : full.concerned) {
      Flow& flow = flows_[seat.slot];
      if (!std::exchange(flow.open, false)) continue;
      flow.next = now.value;
      flow.next_bottleneck = now.link;
      for (const LinkUse& use : path_of(flow)) {
        Shared& link = links_[use.link.index()];
        link.room -= use.weight * now.value;
        link.open -= use.weight;
      }
    }
  }
}

// Flows that keep their rates, but have no bottleneck any more beside those that do not, become concerned
// too; and those that get more of a link than flows whose bottleneck it is. True if there are any.
bool FluidEngine::widen() {
  const std::size_t before = concerned_flows_.size();
  const std::size_t links = concerned_.size();
  for (std::size_t i = 0; i < links; ++i) {
    const std::uint32_t number = concerned_[i];
    Shared& link = links_[number];
    if (link.concerned.size() == link.flows.size()) continue;
    double most = 0.0;
    double level = kNever;         // what flows will get whose bottleneck it will be
    std::size_t held = link.held;  // others whose bottleneck it is
    for (const Seat& seat : link.concerned) {
      const Flow& flow = flows_[seat.slot];
      most = std::max(most, flow.next);
      if (flow.next_bottleneck == number) level = std::min(level, flow.next);
      if (flow.bottleneck == number) --held;
    }
    const bool full = link.room <= kSame * link.rate;
    if (held > 0 && (!full || most > link.level * (1 + kSame))) concern_held(number);
    if (level < link.most * (1 - kSame)) {
      link.most = 0.0;
      for (const Seat& seat : link.flows) {
        const double rate = flows_[seat.slot].rate;
        link.most = std::max(link.most, rate);
        if (level < rate * (1 - kSame)) concern(seat.slot);
      }
    }
  }
  return concerned_flows_.size() > before;
}

void FluidEngine::set_rate(Flow& flow, Slot slot) {
  if (flow.bottleneck != kNone) --links_[flow.bottleneck].held;
  flow.bottleneck = flow.next_bottleneck;
  ++links_[flow.bottleneck].held;
  links_[flow.bottleneck].level = flow.next;
  if (std::abs(flow.next - flow.rate) <= kSame / 10 * flow.rate) return;
  for (const LinkUse& use : path_of(flow)) {
    Shared& link = links_[use.link.index()];
    link.used += use.weight * (flow.next - flow.rate);
    link.most = std::max(link.most, flow.next);
  }
  flow.left -= flow.rate * (now_ - flow.since);
  flow.since = now_;
  flow.rate = flow.next;
  ++flow.change;
  if (flow.rate > 0.0) ends_.push({now_ + std::max(0.0, flow.left) / flow.rate, flow.change, slot});
}

void FluidEngine::share() {
  if (fresh_.empty() && left_.empty() && scaled_.empty()) return;
  ++visit_;
  concerned_.clear();
  concerned_flows_.clear();
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
  for (const Slot slot : concerned_flows_) set_rate(flows_[slot], slot);
  for (const std::uint32_t number : concerned_) {
    Shared& link = links_[number];
    if (link.held > 0) link.most = link.level;
  }
}

// When the next thing ends.
double FluidEngine::next() {
  while (!ends_.empty() && flows_[ends_.top().slot].change != ends_.top().change) ends_.pop();
  const double flow = ends_.empty() ? kNever : ends_.top().at;
  return std::min(flow, timers_.empty() ? kNever : timers_.top().at);
}

// What ends then.
std::vector<std::uint32_t> FluidEngine::take(double at) {
  std::vector<std::uint32_t> ended;
  for (; !ends_.empty() && ends_.top().at <= at + kInstant; ends_.pop()) {
    const End end = ends_.top();
    if (flows_[end.slot].change != end.change) continue;
    ended.push_back(flows_[end.slot].id);
    remove(end.slot);
  }
  for (; !timers_.empty() && timers_.top().at <= at + kInstant; timers_.pop())
    ended.push_back(timers_.top().id);
  std::sort(ended.begin(), ended.end());
  return ended;
}

Result<void> FluidEngine::run(const Begin& begin, const OnInstant& instant) {
  begin();
  while (under_way_ > 0 || !timers_.empty()) {
    share();
    const double at = next();
    if (at == kNever) return failure(fmt::format("{} flows get no rate at {} s", under_way_, now_));
    now_ = std::max(now_, at);
    instant(take(at));
  }
  return {};
}

}  // namespace weir
