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
constexpr double kSame = 1e-13;  // of a rate: what rounding makes of one that has not changed

}  // namespace

FluidEngine::FluidEngine(const Plan& plan, const Cluster& cluster)
    : FluidEngine(reached_rates(plan, cluster)) {}

FluidEngine::FluidEngine(const std::vector<double>& rates) : links_(rates.size()) {
  for (std::size_t i = 0; i < rates.size(); ++i) {
    WEIR_CHECK(rates[i] > 0.0 && std::isfinite(rates[i]), i, rates[i]);
    links_[i].rate = rates[i];
  }
}

Result<void> FluidEngine::set_paths(std::span<const Path> paths) {
  WEIR_CHECK(paths_.empty());
  std::vector<double> rates;
  for (const Shared& link : links_) rates.push_back(link.rate);
  const std::vector<bool> redundant = redundant_links(rates, paths);
  paths_.assign(paths.begin(), paths.end());
  for (Path& path : paths_) {
    std::erase_if(path, [&](const LinkUse& use) { return redundant[use.link.index()]; });
    WEIR_CHECK(!path.empty());
  }
  return {};
}

void FluidEngine::touch(std::uint32_t link) {
  if (std::exchange(links_[link].changed, true)) return;
  changed_.push_back(link);
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
  ++flow.change;
  flow.seats.clear();
  for (const LinkUse& use : paths_[static_cast<std::size_t>(path)]) {
    Shared& link = links_[use.link.index()];
    flow.seats.push_back(static_cast<std::uint32_t>(link.flows.size()));
    link.flows.push_back(slot);
    touch(use.link.value());
  }
  ++under_way_;
}

void FluidEngine::remove(Slot slot) {
  Flow& flow = flows_[slot];
  const Path& path = paths_[static_cast<std::size_t>(flow.path)];
  for (std::size_t i = 0; i < path.size(); ++i) {
    Shared& link = links_[path[i].link.index()];
    const Slot last = link.flows.back();
    link.flows[flow.seats[i]] = last;  // takes the seat
    const Path& its = paths_[static_cast<std::size_t>(flows_[last].path)];
    const auto at =
        std::find_if(its.begin(), its.end(), [&](const LinkUse& use) { return use.link == path[i].link; });
    flows_[last].seats[static_cast<std::size_t>(at - its.begin())] = flow.seats[i];
    link.flows.pop_back();
    touch(path[i].link.value());
  }
  ++flow.change;
  vacant_.push_back(slot);
  --under_way_;
}

void FluidEngine::start_timer(std::uint32_t id, Duration duration) {
  WEIR_CHECK(duration >= Duration(0), id, duration.ns());
  timers_.push({now_ + duration.seconds(), id});
}

// All flows that are connected with the links that have changed, and their links.
void FluidEngine::gather() {
  ++visit_;
  concerned_.clear();
  concerned_flows_.clear();
  const auto visit = [&](std::uint32_t link) {
    if (std::exchange(links_[link].visit, visit_) == visit_) return;
    links_[link].room = links_[link].rate;
    links_[link].weight = 0;
    concerned_.push_back(link);
  };
  for (const std::uint32_t link : changed_) {
    links_[link].changed = false;
    visit(link);
  }
  changed_.clear();
  for (std::size_t i = 0; i < concerned_.size(); ++i) {
    for (const Slot slot : links_[concerned_[i]].flows) {
      Flow& flow = flows_[slot];
      if (std::exchange(flow.visit, visit_) == visit_) continue;
      flow.open = true;
      concerned_flows_.push_back(slot);
      for (const LinkUse& use : paths_[static_cast<std::size_t>(flow.path)]) {
        visit(use.link.value());
        links_[use.link.index()].weight += use.weight;
      }
    }
  }
}

// Progressive filling, link by link: the one that is full first says what its open flows get, and leaves the
// others what these do not take.
void FluidEngine::fill() {
  const auto level = [&](std::uint32_t link) {
    return Level{std::max(0.0, links_[link].room) / static_cast<double>(links_[link].weight), link};
  };
  std::vector<Level> first;
  for (const std::uint32_t link : concerned_) {
    if (links_[link].weight > 0) first.push_back(level(link));
  }
  Soonest<Level> levels(std::greater<>(), std::move(first));
  while (!levels.empty()) {
    const Level lowest = levels.top();
    levels.pop();
    const Shared& full = links_[lowest.link];
    if (full.weight == 0) continue;
    // A level that was written down before flows of the link were given theirs is too low, never too high.
    const Level now = level(lowest.link);
    if (now.value > lowest.value) {
      levels.push(now);
      continue;
    }
    for (const Slot slot : full.flows) {
      Flow& flow = flows_[slot];
      if (!std::exchange(flow.open, false)) continue;
      flow.next = now.value;
      for (const LinkUse& use : paths_[static_cast<std::size_t>(flow.path)]) {
        Shared& link = links_[use.link.index()];
        link.room -= use.weight * now.value;
        link.weight -= use.weight;
      }
    }
  }
}

void FluidEngine::share() {
  if (changed_.empty()) return;
  gather();
  fill();
  for (const Slot slot : concerned_flows_) {
    Flow& flow = flows_[slot];
    if (std::abs(flow.next - flow.rate) <= kSame * flow.rate) continue;
    flow.left -= flow.rate * (now_ - flow.since);
    flow.since = now_;
    flow.rate = flow.next;
    ++flow.change;
    if (flow.rate > 0.0) ends_.push({now_ + std::max(0.0, flow.left) / flow.rate, flow.change, slot});
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
