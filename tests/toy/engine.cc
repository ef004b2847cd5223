#include "tests/toy/engine.h"

#include <algorithm>
#include <limits>

#include "core/fluid/work.h"

namespace weir::toy {
namespace {

// Events closer than this are one instant: doubles carry no more after many additions.
constexpr double kInstant = 1e-12;

}  // namespace

ToyEngine::ToyEngine(const Plan& plan, const Cluster& cluster) {
  for (const Link& link : cluster.links())
    rates_.push_back(static_cast<double>(reached_rate(plan, link).value()));
  room_.resize(rates_.size());
  weight_.resize(rates_.size());
}

Result<void> ToyEngine::set_paths(std::span<const Path> paths) {
  paths_.assign(paths.begin(), paths.end());
  return {};
}

void ToyEngine::start_flow(std::uint32_t id, int path, Bytes bytes) {
  flows_.push_back({id, &paths_[static_cast<std::size_t>(path)], static_cast<double>(bytes.count())});
  changed_ = true;
}

void ToyEngine::start_timer(std::uint32_t id, Duration duration) {
  timers_.push({now_ + duration.seconds(), id});
}

// Raises all rates together; flows over a link that is full keep theirs, the others go on.
void ToyEngine::fill() {
  if (!changed_) return;
  changed_ = false;
  std::vector<Flow*> open;
  for (Flow& flow : flows_) {
    open.push_back(&flow);
    for (const LinkUse& use : *flow.path) room_[use.link.index()] = rates_[use.link.index()];
  }
  while (!open.empty()) {
    for (const Flow* flow : open) {
      for (const LinkUse& use : *flow->path) weight_[use.link.index()] = 0.0;
    }
    for (const Flow* flow : open) {
      for (const LinkUse& use : *flow->path) weight_[use.link.index()] += use.weight;
    }
    const auto level_of = [&](const LinkUse& use) {
      return room_[use.link.index()] / weight_[use.link.index()];
    };
    double level = std::numeric_limits<double>::max();
    for (const Flow* flow : open) {
      for (const LinkUse& use : *flow->path) level = std::min(level, level_of(use));
    }
    const auto full = [&](const LinkUse& use) { return level_of(use) <= level * (1 + 1e-12); };
    std::vector<Flow*> still;
    std::vector<Flow*> fixed;
    for (Flow* flow : open) {
      flow->rate = level;
      (std::any_of(flow->path->begin(), flow->path->end(), full) ? fixed : still).push_back(flow);
    }
    for (const Flow* flow : fixed) {
      for (const LinkUse& use : *flow->path) room_[use.link.index()] -= use.weight * level;
    }
    open = std::move(still);
  }
}

double ToyEngine::next() const {
  double at = timers_.empty() ? std::numeric_limits<double>::max() : timers_.top().at;
  for (const Flow& flow : flows_) at = std::min(at, now_ + flow.left / flow.rate);
  return at;
}

Result<void> ToyEngine::run(const Begin& begin, const OnInstant& instant) {
  begin();
  while (!flows_.empty() || !timers_.empty()) {
    fill();
    const double at = next();
    std::vector<std::uint32_t> ended;
    for (Flow& flow : flows_) {
      flow.left -= flow.rate * (at - now_);
      if (flow.left <= flow.rate * kInstant) ended.push_back(flow.id);
    }
    std::erase_if(flows_, [](const Flow& flow) { return flow.left <= flow.rate * kInstant; });
    changed_ = changed_ || !ended.empty();
    while (!timers_.empty() && timers_.top().at <= at + kInstant) {
      ended.push_back(timers_.top().id);
      timers_.pop();
    }
    now_ = at;
    std::sort(ended.begin(), ended.end());
    instant(ended);
  }
  return {};
}

}  // namespace weir::toy
