#include "core/simulate/engines/binding.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>

namespace weir {
namespace {

// It is worth tracking covers if together they let through at most this multiple of the link's rate.
constexpr double kLittleMore = 2.0;

// One path through a link under test.
struct Through {
  std::uint32_t path;
  int weight;  // on that link
};

class Judge {
 public:
  Judge(const std::vector<double>& rates, const Paths& paths)
      : rates_(rates), paths_(paths), barred_(rates.size(), false), shares_(rates.size()) {}

  // Finds links such that each of `paths` passes one of them, and that together let at most `most` of the
  // tested link's bytes through. `tested` and barred links do not qualify. None if none are found. A greedy
  // choice: the least bytes per second for each path first.
  std::optional<std::vector<Cover>> covers(LinkId tested, double most, std::vector<Through> paths) {
    std::vector<Cover> chosen;
    double through = 0.0;
    while (!paths.empty()) {
      const LinkId best = best_cover(tested, paths);
      if (!best.valid()) return std::nullopt;
      chosen.push_back({best, lets_through(best)});
      through += chosen.back().rate;
      if (through > most) return std::nullopt;
      std::erase_if(paths, [&](const Through& each) {
        return std::ranges::any_of(paths_[each.path], [&](const LinkUse& use) { return use.link == best; });
      });
    }
    return chosen;
  }

  void bar(LinkId link) { barred_[link.index()] = true; }

 private:
  struct Share {
    double most = 0.0;  // bytes over the tested link for each byte over this one
    double paths = 0.0;
  };

  double lets_through(LinkId link) const { return rates_[link.index()] * shares_[link.index()].most; }

  LinkId best_cover(LinkId tested, const std::vector<Through>& paths) {
    for (const LinkId link : met_) shares_[link.index()] = {};
    met_.clear();
    for (const Through& each : paths) {
      for (const LinkUse& use : paths_[each.path]) {
        if (use.link == tested || barred_[use.link.index()]) continue;
        Share& share = shares_[use.link.index()];
        if (share.paths == 0.0) met_.push_back(use.link);
        share.most = std::max(share.most, static_cast<double>(each.weight) / use.weight);
        share.paths += 1.0;
      }
    }
    const auto better = [&](LinkId a, LinkId b) {
      const double ours = lets_through(a) * shares_[b.index()].paths;
      const double theirs = lets_through(b) * shares_[a.index()].paths;
      return ours != theirs ? ours < theirs : a < b;
    };
    const auto best = std::ranges::min_element(met_, better);
    return best == met_.end() ? LinkId() : *best;
  }

  const std::vector<double>& rates_;
  const Paths& paths_;
  std::vector<bool> barred_;   // by link
  std::vector<Share> shares_;  // by link
  std::vector<LinkId> met_;    // links whose shares_ entries are in use
};

}  // namespace

Binding::Binding(const std::vector<double>& rates, const Paths& paths, const std::vector<bool>& varies)
    : never(rates.size(), false), covers(rates.size()) {
  std::vector<std::vector<Through>> through(rates.size());
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    for (const LinkUse& use : paths[i]) through[use.link.index()].push_back({i, use.weight});
  }
  // Fastest links first. Each link is judged by the links that remain, so that no two excuse each other.
  std::vector<std::size_t> order(rates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rates[a] > rates[b]; });
  Judge judge(rates, paths);
  for (const std::size_t link : order) {
    if (varies[link] || !judge.covers(LinkId(link), rates[link], through[link])) continue;
    judge.bar(LinkId(link));
    never[link] = true;
  }
  std::vector<bool> needed(rates.size(), false);
  for (const std::size_t link : order) {
    if (varies[link] || never[link] || needed[link]) continue;
    const auto found = judge.covers(LinkId(link), kLittleMore * rates[link], through[link]);
    if (!found) continue;
    judge.bar(LinkId(link));
    covers[link] = *found;
    for (const Cover& cover : *found) needed[cover.by.index()] = true;
  }
}

}  // namespace weir
