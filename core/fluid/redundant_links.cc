#include "core/fluid/redundant_links.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace weir {
namespace {

// One path through a link under test.
struct Through {
  const Path* path;
  int weight;  // of that link
};

// Whether some of the links in `paths` but `tested` and those in `gone`, passed by all of them, let at most
// `rate` through. Chosen one after the other, the least bytes per second for each path first.
bool covered(LinkId tested, double rate, const std::vector<double>& rates, const std::vector<bool>& gone,
             std::vector<Through> paths) {
  double through = 0.0;
  while (!paths.empty()) {
    struct Cover {
      double share = 0.0;  // bytes over the tested link for each byte over this one, at most
      double paths = 0.0;
    };
    std::map<LinkId, Cover> covers;
    for (const Through& each : paths) {
      for (const LinkUse& use : *each.path) {
        if (use.link == tested || gone[use.link.index()]) continue;
        Cover& cover = covers[use.link];
        cover.share = std::max(cover.share, static_cast<double>(each.weight) / use.weight);
        cover.paths += 1.0;
      }
    }
    const auto lets_through = [&](const auto& cover) {
      return rates[cover.first.index()] * cover.second.share;
    };
    const auto best = std::min_element(covers.begin(), covers.end(), [&](const auto& a, const auto& b) {
      return lets_through(a) * b.second.paths < lets_through(b) * a.second.paths;
    });
    if (best == covers.end()) return false;
    through += lets_through(*best);
    if (through > rate) return false;
    std::erase_if(paths, [&](const Through& each) {
      return std::any_of(each.path->begin(), each.path->end(),
                         [&](const LinkUse& use) { return use.link == best->first; });
    });
  }
  return true;
}

}  // namespace

std::vector<bool> redundant_links(const std::vector<double>& rates, std::span<const Path> paths,
                                  const std::vector<bool>& varies) {
  std::vector<std::vector<Through>> through(rates.size());
  for (const Path& path : paths) {
    for (const LinkUse& use : path) through[use.link.index()].push_back({&path, use.weight});
  }
  // The fastest first. A link is judged by those that are left, so that no two excuse each other.
  std::vector<std::size_t> order(rates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rates[a] > rates[b]; });
  std::vector<bool> gone(rates.size(), false);
  for (const std::size_t link : order) {
    if (!varies.empty() && varies[link]) continue;
    gone[link] = covered(LinkId(link), rates[link], rates, gone, through[link]);
  }
  return gone;
}

}  // namespace weir
