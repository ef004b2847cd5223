#include "core/fluid/redundant_links.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace weir {
namespace {

// One path through a link under test.
struct Through {
  std::uint32_t path;
  int weight;  // of that link
};

class Judge {
 public:
  Judge(const std::vector<double>& rates, const Paths& paths)
      : rates_(rates), paths_(paths), gone_(rates.size(), false), covers_(rates.size()) {}

  // Whether some of the links in `paths` but `tested` and those that are gone, passed by all of them, let at
  // most the tested one's rate through. Chosen one after the other, the least bytes per second for each path
  // first.
  bool covered(LinkId tested, std::vector<Through> paths) {
    const double rate = rates_[tested.index()];
    double through = 0.0;
    while (!paths.empty()) {
      const LinkId best = best_cover(tested, paths);
      if (!best.valid()) return false;
      through += lets_through(best);
      if (through > rate) return false;
      std::erase_if(paths, [&](const Through& each) {
        return std::ranges::any_of(paths_[each.path], [&](const LinkUse& use) { return use.link == best; });
      });
    }
    return true;
  }

  void remove(LinkId link) { gone_[link.index()] = true; }
  std::vector<bool>& gone() { return gone_; }

 private:
  struct Cover {
    double share = 0.0;  // bytes over the tested link for each byte over this one, at most
    double paths = 0.0;
  };

  double lets_through(LinkId cover) const { return rates_[cover.index()] * covers_[cover.index()].share; }

  LinkId best_cover(LinkId tested, const std::vector<Through>& paths) {
    for (const LinkId link : met_) covers_[link.index()] = {};
    met_.clear();
    for (const Through& each : paths) {
      for (const LinkUse& use : paths_[each.path]) {
        if (use.link == tested || gone_[use.link.index()]) continue;
        Cover& cover = covers_[use.link.index()];
        if (cover.paths == 0.0) met_.push_back(use.link);
        cover.share = std::max(cover.share, static_cast<double>(each.weight) / use.weight);
        cover.paths += 1.0;
      }
    }
    const auto better = [&](LinkId a, LinkId b) {
      const double ours = lets_through(a) * covers_[b.index()].paths;
      const double theirs = lets_through(b) * covers_[a.index()].paths;
      return ours != theirs ? ours < theirs : a < b;
    };
    const auto best = std::ranges::min_element(met_, better);
    return best == met_.end() ? LinkId() : *best;
  }

  const std::vector<double>& rates_;
  const Paths& paths_;
  std::vector<bool> gone_;
  std::vector<Cover> covers_;  // by link
  std::vector<LinkId> met_;    // those that count
};

}  // namespace

std::vector<bool> redundant_links(const std::vector<double>& rates, const Paths& paths,
                                  const std::vector<bool>& varies) {
  std::vector<std::vector<Through>> through(rates.size());
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    for (const LinkUse& use : paths[i]) through[use.link.index()].push_back({i, use.weight});
  }
  // The fastest first. A link is judged by those that are left, so that no two excuse each other.
  std::vector<std::size_t> order(rates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rates[a] > rates[b]; });
  Judge judge(rates, paths);
  for (const std::size_t link : order) {
    if (varies[link]) continue;
    if (judge.covered(LinkId(link), std::move(through[link]))) judge.remove(LinkId(link));
  }
  return judge.gone();
}

}  // namespace weir
