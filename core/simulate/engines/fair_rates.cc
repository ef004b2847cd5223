#include "core/simulate/engines/fair_rates.h"

#include <algorithm>
#include <limits>

namespace weir {
namespace {

struct Flow {
  PathView path;
  std::size_t number;
};

}  // namespace

// Progressive filling: raises all rates together. Flows over a link that becomes full keep their rate; the
// others continue to rise.
std::vector<double> fair_rates(const std::vector<double>& rates, const std::vector<PathView>& flows) {
  std::vector<double> room = rates;               // rate not yet given away
  std::vector<double> weight(rates.size(), 0.0);  // of the flows that still rise
  std::vector<double> given(flows.size(), 0.0);
  std::vector<Flow> open;
  for (std::size_t i = 0; i < flows.size(); ++i) open.push_back({flows[i], i});
  while (!open.empty()) {
    for (const Flow& flow : open) {
      for (const LinkUse& use : flow.path) weight[use.link.index()] = 0.0;
    }
    for (const Flow& flow : open) {
      for (const LinkUse& use : flow.path) weight[use.link.index()] += use.weight;
    }
    const auto level_of = [&](const LinkUse& use) {
      return room[use.link.index()] / weight[use.link.index()];
    };
    double level = std::numeric_limits<double>::max();
    for (const Flow& flow : open) {
      for (const LinkUse& use : flow.path) level = std::min(level, level_of(use));
    }
    const auto full = [&](const LinkUse& use) { return level_of(use) <= level * (1 + 1e-12); };
    std::vector<Flow> still;
    std::vector<Flow> fixed;
    for (const Flow& flow : open) {
      given[flow.number] = level;
      (std::any_of(flow.path.begin(), flow.path.end(), full) ? fixed : still).push_back(flow);
    }
    for (const Flow& flow : fixed) {
      for (const LinkUse& use : flow.path) room[use.link.index()] -= use.weight * level;
    }
    open = std::move(still);
  }
  return given;
}

}  // namespace weir
