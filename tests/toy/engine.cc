#include "tests/toy/engine.h"

#include <algorithm>
#include <limits>

#include "core/hardware/work.h"
#include "core/simulate/engines/fair_rates.h"

namespace weir::toy {
namespace {

// Events closer than this are one instant: doubles are not more precise after many additions.
constexpr double kInstant = 1e-12;

}  // namespace

ToyEngine::ToyEngine(const Plan& plan, const Cluster& cluster) : ToyEngine(reached_rates(plan, cluster)) {}

ToyEngine::ToyEngine(const std::vector<double>& rates) : whole_(rates), rates_(rates) {}

Result<void> ToyEngine::set_paths(const Paths& paths, const Binding& /*binding*/) {
  paths_ = &paths;
  return {};
}

void ToyEngine::start_flow(std::uint32_t id, int path, Bytes bytes) {
  flows_.push_back({id, (*paths_)[static_cast<std::size_t>(path)], static_cast<double>(bytes.count())});
  changed_ = true;
}

void ToyEngine::start_timer(std::uint32_t id, Duration duration) {
  timers_.push({now_ + duration.seconds(), id});
}

void ToyEngine::scale_link(LinkId link, double factor) {
  rates_[link.index()] = factor * whole_[link.index()];
  changed_ = true;
}

void ToyEngine::fill() {
  if (!changed_) return;
  changed_ = false;
  std::vector<PathView> paths;
  for (const Flow& flow : flows_) paths.push_back(flow.path);
  const std::vector<double> rates = fair_rates(rates_, paths);
  for (std::size_t i = 0; i < flows_.size(); ++i) flows_[i].rate = rates[i];
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
