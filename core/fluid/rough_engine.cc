#include "core/fluid/rough_engine.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "core/fluid/fluid_engine.h"
#include "core/fluid/work.h"

namespace weir {
namespace {

constexpr double kRounding = 1e-9;  // of a link's rate: far more than many additions leave
// How often links may be looked at in an instant for each of them: many times what ever was seen.
constexpr std::size_t kMostLooks = 1000;

}  // namespace

RoughEngine::RoughEngine(const Plan& plan, const Cluster& cluster, double precision)
    : RoughEngine(reached_rates(plan, cluster), precision) {}

RoughEngine::RoughEngine(const std::vector<double>& rates, double precision)
    : precision_(precision), slack_(precision / 2), links_(rates.size()) {
  WEIR_CHECK(precision > 0.0 && precision < 1.0, precision);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    WEIR_CHECK(rates[i] > 0.0 && std::isfinite(rates[i]), i, rates[i]);
    links_[i].rate = links_[i].whole = rates[i];
  }
  ends_.grow(links_.size());
}

Result<void> RoughEngine::set_paths(const Paths& paths, const Binding& binding) {
  WEIR_CHECK(paths_ == nullptr);
  paths_ = &paths;
  binding_ = &binding;
  covered_.resize(links_.size());
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const std::vector<Cover>& covers = binding.covers[i];
    covered_[i] = {covers, std::vector<std::uint32_t>(covers.size(), 0)};
    links_[i].idle = !covers.empty();
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto length = static_cast<std::size_t>(std::ranges::count_if(
        paths[i], [&](const LinkUse& use) { return !binding.never[use.link.index()]; }));
    WEIR_CHECK(length > 0, i);
    longest_ = std::max(longest_, length);
  }
  return {};
}

void RoughEngine::start_flow(std::uint32_t id, int path, Bytes bytes) {
  WEIR_CHECK(bytes > Bytes(0) && path >= 0 && static_cast<std::size_t>(path) < paths_->size(), id, path,
             bytes.count());
  if (vacant_.empty()) {
    vacant_.push_back(static_cast<Slot>(flows_.size()));
    flows_.emplace_back();
    hops_.resize(hops_.size() + longest_);
  }
  const Slot slot = vacant_.back();
  vacant_.pop_back();
  Flow& flow = flows_[slot];
  flow = {.id = id, .hops = 0, .holder = kNone, .place = 0};
  const PathView uses = (*paths_)[static_cast<std::size_t>(path)];
  for (const auto& [number, weight] : uses) {
    if (binding_->never[number.index()]) continue;
    Shared& link = links_[number.index()];
    const auto seat = static_cast<std::uint32_t>(link.flows.size());
    link.flows.push_back({slot, weight});
    hops_[slot * longest_ + flow.hops++] = {number.value(), weight, seat, enter(number, uses)};
  }
  fresh_.push_back({slot, static_cast<double>(bytes.count())});
  ++under_way_;
}

double RoughEngine::Covered::possible() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < covers.size(); ++i) sum += flows[i] > 0 ? covers[i].rate : 0.0;
  return sum;
}

// A flow has come to a link. Says which of its covers the flow counts for.
std::uint32_t RoughEngine::enter(LinkId link, PathView path) {
  Covered& covered = covered_[link.index()];
  if (covered.covers.empty()) return 0;
  const auto passed = std::ranges::find_if(covered.covers, [&](const Cover& cover) {
    return std::ranges::any_of(path, [&](const LinkUse& use) { return use.link == cover.by; });
  });
  WEIR_CHECK(passed != covered.covers.end(), link);
  const auto cover = static_cast<std::size_t>(passed - covered.covers.begin());
  Shared& shared = links_[link.index()];
  if (covered.flows[cover]++ == 0 && shared.idle && covered.possible() > shared.rate) {
    shared.idle = false;
    shared.used = shared.most = 0.0;
    for (const Seat& seat : shared.flows) {
      const double rate = rate_of(seat.slot);
      shared.used += seat.weight * rate;
      if (flows_[seat.slot].holder != link.value()) shared.most = std::max(shared.most, rate);
    }
    watch(link.value());
  }
  return static_cast<std::uint32_t>(cover);
}

// A flow goes from a link that has covers.
void RoughEngine::leave(const Hop& hop) {
  Covered& covered = covered_[hop.link];
  Shared& shared = links_[hop.link];
  if (--covered.flows[hop.cover] == 0 && !shared.idle) shared.idle = covered.possible() <= shared.rate;
}

void RoughEngine::remove(Slot slot) {
  const double rate = rate_of(slot);
  release(slot);
  for (const Hop& hop : hops(slot)) {
    Shared& link = links_[hop.link];
    const Seat last = link.flows.back();
    link.flows[hop.seat] = last;
    const std::span<Hop> its = hops(last.slot);
    std::find_if(its.begin(), its.end(), [&](const Hop& other) { return other.link == hop.link; })->seat =
        hop.seat;
    link.flows.pop_back();
    if (link.flows.empty()) {
      link.used = link.most = 0.0;
    } else {
      link.used -= hop.weight * rate;
    }
    if (!covered_[hop.link].covers.empty()) leave(hop);
    watch(hop.link);
  }
  vacant_.push_back(slot);
  --under_way_;
}

void RoughEngine::start_timer(std::uint32_t id, Duration duration) {
  WEIR_CHECK(duration >= Duration(0), id, duration.ns());
  timers_.push({now_ + duration.seconds(), id});
}

void RoughEngine::scale_link(LinkId link, double factor) {
  WEIR_CHECK(factor >= 0.0 && factor <= 1.0, link, factor);
  links_[link.index()].rate = factor * links_[link.index()].whole;
  watch(link.value());
}

double RoughEngine::rate_of(Slot slot) const {
  const std::uint32_t holder = flows_[slot].holder;
  return holder == kNone ? 0.0 : links_[holder].level;
}

void RoughEngine::count(Shared& link) const {
  link.count += link.level * (now_ - link.since);
  link.since = now_;
}

// The flow, which no link holds, is held by this one from now on. Use is the caller's matter, here and below.
void RoughEngine::hold(Fresh flow, std::uint32_t link) {
  Shared& shared = links_[link];
  const std::span<const Hop> its = hops(flow.slot);
  const Hop& hop = *std::ranges::find(its, link, &Hop::link);
  count(shared);
  flows_[flow.slot].holder = link;
  flows_[flow.slot].place = static_cast<std::uint32_t>(shared.held.size());
  shared.held.push_back({shared.count + flow.left, flow.slot, hop.weight});
  shared.weight += hop.weight;
  if (!std::exchange(shared.moved, true)) moved_.push_back(link);
}

RoughEngine::Fresh RoughEngine::release(Slot slot) {
  Flow& flow = flows_[slot];
  Shared& shared = links_[flow.holder];
  count(shared);
  const Held held = shared.held[flow.place];
  flows_[shared.held.back().slot].place = flow.place;
  shared.held[flow.place] = shared.held.back();
  shared.held.pop_back();
  shared.weight -= held.weight;
  if (!std::exchange(shared.moved, true)) moved_.push_back(flow.holder);
  flow.holder = kNone;
  const double left = std::max(0.0, held.due - shared.count);
  if (shared.held.empty()) shared.count = 0.0;
  return {slot, left};
}

// What a flow gets has become more by so much, or less; whoever calls knows of one link, or none.
void RoughEngine::change(Slot slot, double by, std::uint32_t but) {
  const std::uint32_t holder = flows_[slot].holder;
  const double rate = rate_of(slot);
  for (const Hop& hop : hops(slot)) {
    Shared& link = links_[hop.link];
    if (hop.link == but || link.idle) continue;
    link.used += hop.weight * by;
    if (hop.link != holder) link.most = std::max(link.most, rate);
    watch(hop.link);
  }
}

void RoughEngine::move(Slot slot, std::uint32_t link) {
  const double before = rate_of(slot);
  hold(release(slot), link);
  change(slot, links_[link].level - before, kNone);
}

// The link is looked at if it breaks an invariant.
void RoughEngine::watch(std::uint32_t link) {
  Shared& shared = links_[link];
  if (shared.queued) return;
  const bool holds = shared.weight > 0;
  const double slack = slack_ * shared.rate + kRounding * shared.whole;
  const bool well =
      shared.idle ? !holds
                  : shared.used <= shared.rate + slack && (!holds || shared.used >= shared.rate - slack);
  if (well) return;
  shared.queued = true;
  queued_.push_back(link);
}

// What each flow gets if all that get more, those that the link holds, and one more of a weight share what
// others leave.
void RoughEngine::find(Shared& link, int more, Taking& found) {
  found.flows.clear();
  double room = link.rate - link.used + static_cast<double>(link.weight) * link.level;
  std::int64_t weight = link.weight + more;
  found.level = weight == 0 ? 0.0 : std::max(0.0, room / static_cast<double>(weight));
  if (weight > 0 && link.most <= found.level * (1 + slack_)) return;
  const auto number = static_cast<std::uint32_t>(&link - links_.data());
  link.most = 0.0;
  for (const Seat& seat : link.flows) {
    if (flows_[seat.slot].holder == number) continue;
    const double rate = rate_of(seat.slot);
    link.most = std::max(link.most, rate);
    if (rate > found.level * (1 + slack_)) found.flows.emplace_back(rate, seat);
  }
  std::ranges::stable_sort(found.flows, std::greater<>(), &std::pair<double, Seat>::first);
  std::size_t taken = 0;
  for (; taken < found.flows.size(); ++taken) {
    const auto& [rate, seat] = found.flows[taken];
    if (weight > 0 && rate <= found.level * (1 + slack_)) break;
    room += seat.weight * rate;
    weight += seat.weight;
    found.level = std::max(0.0, room / static_cast<double>(weight));
  }
  found.flows.erase(found.flows.begin() + static_cast<std::ptrdiff_t>(taken), found.flows.end());
}

// Gives what the link holds the level, and the flows that it takes for it.
void RoughEngine::take_in(std::uint32_t link, const Taking& found) {
  set_level(link, found.level);
  for (const auto& [rate, seat] : found.flows) move(seat.slot, link);
}

void RoughEngine::set_level(std::uint32_t link, double level) {
  Shared& shared = links_[link];
  count(shared);
  const double by = level - shared.level;
  shared.level = level;
  if (!std::exchange(shared.moved, true)) moved_.push_back(link);
  for (const Held& held : shared.held) change(held.slot, by, link);
  shared.used += static_cast<double>(shared.weight) * by;
  watch(link);
}

// The link leaves room. Its flows that others hold down more are those links' from now on.
void RoughEngine::raise(std::uint32_t link) {
  Shared& shared = links_[link];
  double level = 0.0;
  for (bool moved = true; moved;) {
    moved = false;
    if (shared.weight == 0) return;
    level = (shared.rate - shared.used) / static_cast<double>(shared.weight) + shared.level;
    for (std::size_t i = shared.held.size(); i-- > 0;) {
      const Slot slot = shared.held[i].slot;
      std::uint32_t lowest = link;
      double least = level;
      for (const Hop& hop : hops(slot)) {
        const Shared& other = links_[hop.link];
        if (hop.link == link || other.weight == 0 || other.idle) continue;
        if (other.level * (1 + slack_) < least) {
          least = other.level;
          lowest = hop.link;
        }
      }
      if (lowest == link) continue;
      move(slot, lowest);
      moved = true;
    }
  }
  set_level(link, level);
}

// The link of a path that gives a flow the least from now on holds it.
void RoughEngine::place(Fresh flow) {
  least_.level = Earliest::kNever;
  std::uint32_t holder = kNone;
  for (const Hop& hop : hops(flow.slot)) {
    if (links_[hop.link].idle) continue;
    find(links_[hop.link], hop.weight, found_);
    if (found_.level >= least_.level) continue;
    holder = hop.link;
    std::swap(least_, found_);
  }
  WEIR_CHECK(holder != kNone, flows_[flow.slot].id);
  take_in(holder, least_);
  hold(flow, holder);
  change(flow.slot, links_[holder].level, kNone);
}

// The link cannot bind any more.
void RoughEngine::evict(std::uint32_t link) {
  while (!links_[link].held.empty()) {
    const Slot slot = links_[link].held.back().slot;
    const double rate = rate_of(slot);
    const Fresh flow = release(slot);
    change(slot, -rate, kNone);
    place(flow);
  }
}

void RoughEngine::settle(std::uint32_t link) {
  Shared& shared = links_[link];
  if (shared.idle) return evict(link);
  const double slack = slack_ * shared.rate + kRounding * shared.whole;
  if (shared.used > shared.rate + slack) {
    find(shared, 0, found_);
    take_in(link, found_);
  } else if (shared.weight > 0 && shared.used < shared.rate - slack) {
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
  const auto first = std::ranges::min_element(shared.held, {}, &Held::due);
  if (first == shared.held.end() || shared.level == 0.0) return ends_.set(link, Earliest::kNever);
  shared.first = first->slot;
  ends_.set(link, shared.since + std::max(0.0, first->due - shared.count) / shared.level);
}

// When the next thing ends.
double RoughEngine::next() const {
  return std::min(ends_.time(), timers_.empty() ? Earliest::kNever : timers_.top().at);
}

// What ends then.
std::vector<std::uint32_t> RoughEngine::take(double at) {
  std::vector<std::uint32_t> ended;
  while (ends_.time() <= at + Earliest::kInstant) {
    const auto link = static_cast<std::uint32_t>(ends_.thing());
    const Slot slot = links_[link].first;
    ended.push_back(flows_[slot].id);
    remove(slot);
    schedule(link);
  }
  for (const std::uint32_t link : moved_) links_[link].moved = false;
  moved_.clear();
  for (; !timers_.empty() && timers_.top().at <= at + Earliest::kInstant; timers_.pop())
    ended.push_back(timers_.top().id);
  std::sort(ended.begin(), ended.end());
  return ended;
}

Result<void> RoughEngine::run(const Begin& begin, const OnInstant& instant) {
  begin();
  while (under_way_ > 0 || !timers_.empty()) {
    share();
    const double at = next();
    if (at == Earliest::kNever) return failure(fmt::format("{} flows get no rate at {} s", under_way_, now_));
    now_ = std::max(now_, at);
    instant(take(at));
  }
  return {};
}

std::unique_ptr<Engine> fluid_engine(const std::vector<double>& rates, double precision) {
  if (precision == 0.0) return std::make_unique<FluidEngine>(rates);
  return std::make_unique<RoughEngine>(rates, precision);
}

}  // namespace weir
