// The flows of the rough engine: which links each one uses, and which link holds it.
#include <algorithm>

#include "core/base/check.h"
#include "core/simulate/engines/rough_engine.h"

namespace weir {

Result<void> RoughEngine::set_paths(const Paths& paths, const Binding& binding) {
  WEIR_CHECK(paths_ == nullptr);
  paths_ = &paths;
  std::vector<bool> met(rates_.size(), false);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::size_t length = 0;
    for (const LinkUse& use : paths[i]) {
      if (binding.never[use.link.index()]) continue;
      met[use.link.index()] = true;
      ++length;
    }
    WEIR_CHECK(length > 0, i);
    longest_ = std::max(longest_, length);
  }
  numbers_.assign(rates_.size(), kNone);
  for (std::size_t i = 0; i < rates_.size(); ++i) {
    if (!met[i]) continue;
    numbers_[i] = static_cast<std::uint32_t>(links_.size());
    const std::vector<Cover>& covers = binding.covers[i];
    covered_.emplace_back(covers);
    links_.push_back({.rate = rates_[i], .whole = rates_[i], .idle = !covers.empty()});
  }
  width_ = longest_ - 1;
  // One extra link that never binds fills the places after a flow's last hop.
  uses_.resize(links_.size() + 1);
  limits_.resize(links_.size() + 1, kNever);
  for (std::uint32_t i = 0; i < links_.size(); ++i) bound(i);
  ends_.grow(links_.size());
  return {};
}

void RoughEngine::start_flow(std::uint32_t id, int path, Bytes bytes) {
  WEIR_CHECK(bytes > Bytes(0) && path >= 0 && static_cast<std::size_t>(path) < paths_->size(), id, path,
             bytes.count());
  if (vacant_.empty()) {
    vacant_.push_back(static_cast<Slot>(flows_.size()));
    flows_.emplace_back();
    hops_.resize(hops_.size() + longest_);
    places_.resize(hops_.size());
  }
  const Slot slot = vacant_.back();
  vacant_.pop_back();
  Flow& flow = flows_[slot];
  flow = {.id = id, .hops = 0, .holder = kNone, .place = 0};
  const PathView uses = (*paths_)[static_cast<std::size_t>(path)];
  for (const auto& [number, weight] : uses) {
    const std::uint32_t link = numbers_[number.index()];
    if (link == kNone) continue;
    const auto seat = static_cast<std::uint32_t>(links_[link].flows.size());
    links_[link].flows.push_back({slot, weight});
    const std::size_t hop = slot * longest_ + flow.hops++;
    hops_[hop] = {link, weight};
    places_[hop] = {seat, enter(link, uses)};
  }
  fresh_.push_back({slot, static_cast<double>(bytes.count())});
  ++running_flows_;
}

// A flow arrives on a link. Returns the cover that the flow counts for.
std::uint32_t RoughEngine::enter(std::uint32_t link, PathView path) {
  CoverCount& covered = covered_[link];
  if (covered.none()) return 0;
  const std::uint32_t cover = covered.cover_of(path);
  Shared& shared = links_[link];
  if (covered.enter(cover) && shared.idle && covered.possible() > shared.rate) {
    shared.idle = false;
    recount(link);
    bound(link);
  }
  return cover;
}

// Recomputes the link's use, and the highest rate of flows that other links hold, from the flows' rates.
void RoughEngine::recount(std::uint32_t link) {
  Use& use = uses_[link];
  use.used = use.most = 0.0;
  for (const Seat& seat : links_[link].flows) {
    const double rate = rate_of(seat.slot);
    use.used += seat.weight * rate;
    if (flows_[seat.slot].holder != link) use.most = std::max(use.most, rate);
  }
}

// A flow leaves a link that has covers.
void RoughEngine::leave(std::uint32_t link, std::uint32_t cover) {
  CoverCount& covered = covered_[link];
  Shared& shared = links_[link];
  if (!covered.leave(cover) || shared.idle) return;
  shared.idle = covered.possible() <= shared.rate;
  bound(link);
}

void RoughEngine::remove(Slot slot) {
  const double rate = rate_of(slot);
  release(slot);
  for (std::size_t i = 0; i < flows_[slot].hops; ++i) {
    const auto& [number, weight] = hops_[slot * longest_ + i];
    const auto& [seat, cover] = places_[slot * longest_ + i];
    Shared& link = links_[number];
    const Slot last = link.flows.back().slot;
    link.flows[seat] = link.flows.back();
    const auto same = std::ranges::find(hops(last), number, &Hop::link);
    places_[last * longest_ + static_cast<std::size_t>(same - hops(last).begin())].seat = seat;
    link.flows.pop_back();
    Use& use = uses_[number];
    if (link.flows.empty()) {
      use.used = use.most = 0.0;
    } else {
      use.used -= weight * rate;
    }
    if (!covered_[number].none()) leave(number, cover);
    watch(number);
  }
  vacant_.push_back(slot);
  --running_flows_;
}

void RoughEngine::scale_link(LinkId link, double factor) {
  WEIR_CHECK(factor >= 0.0 && factor <= 1.0, link, factor);
  const std::uint32_t number = numbers_[link.index()];
  if (number == kNone) return;
  links_[number].rate = factor * links_[number].whole;
  bound(number);
}

double RoughEngine::rate_of(Slot slot) const {
  const std::uint32_t holder = flows_[slot].holder;
  return holder == kNone ? 0.0 : links_[holder].level;
}

void RoughEngine::count(Shared& link) const {
  link.count += link.level * (now_ - link.since);
  link.since = now_;
}

// From now on this link holds the flow, which no link held. The caller updates links' use, here and below.
void RoughEngine::hold(Fresh flow, std::uint32_t link) {
  Shared& shared = links_[link];
  const std::span<const Hop> its = hops(flow.slot);
  const Hop& hop = *std::ranges::find(its, link, &Hop::link);
  count(shared);
  flows_[flow.slot].holder = link;
  const auto place = static_cast<std::uint32_t>(shared.held.size());
  flows_[flow.slot].place = place;
  shared.held.push_back({shared.count + flow.left, flow.slot, hop.weight});
  for (const Hop& other : its) {
    if (other.link != link) shared.others.push_back(other);
  }
  shared.others.resize(shared.held.size() * width_, {static_cast<std::uint32_t>(links_.size()), 0});
  if (place == 0) {
    shared.first = 0;
    shared.lost = false;
  } else if (!shared.lost && shared.held[place].due < shared.held[shared.first].due) {
    shared.first = place;
  }
  shared.weight += hop.weight;
  if (place == 0) bound(link);
  if (!std::exchange(shared.moved, true)) moved_.push_back(link);
}

RoughEngine::Fresh RoughEngine::release(Slot slot) {
  const std::uint32_t link = std::exchange(flows_[slot].holder, kNone);
  const std::uint32_t place = flows_[slot].place;
  Shared& shared = links_[link];
  count(shared);
  const Held held = shared.held[place];
  flows_[shared.held.back().slot].place = place;
  shared.held[place] = shared.held.back();
  shared.held.pop_back();
  const auto others = shared.others.begin();
  std::copy_n(others + static_cast<std::ptrdiff_t>(shared.held.size() * width_), width_,
              others + static_cast<std::ptrdiff_t>(place * width_));
  shared.others.resize(shared.held.size() * width_);
  if (shared.first == place) {
    shared.lost = true;
  } else if (shared.first == shared.held.size()) {
    shared.first = place;
  }
  shared.weight -= held.weight;
  if (!std::exchange(shared.moved, true)) moved_.push_back(link);
  const double left = std::max(0.0, held.due - shared.count);
  if (shared.held.empty()) {
    shared.count = 0.0;
    bound(link);
  }
  return {slot, left};
}

// The flow's rate has changed by this much.
void RoughEngine::change(Slot slot, double by) {
  const std::uint32_t holder = flows_[slot].holder;
  const double rate = rate_of(slot);
  for (const Hop& hop : hops(slot)) change(hop, by, hop.link == holder ? 0.0 : rate);
}

// Updates one link's use; `rate` is that of a flow that another link holds, or 0 for the link's own.
void RoughEngine::change(const Hop& hop, double by, double rate) {
  Use& use = uses_[hop.link];
  if (use.upper == kNever) return;
  use.used += hop.weight * by;
  use.most = std::max(use.most, rate);
  if (use.used < use.lower || use.used > use.upper || rate > limits_[hop.link]) watch(hop.link);
}

void RoughEngine::move(Slot slot, std::uint32_t link) {
  const double before = rate_of(slot);
  hold(release(slot), link);
  change(slot, links_[link].level - before);
}

}  // namespace weir
