// The links that flows load. Plans of a thousand machines have millions of short paths, so they lie one after
// the other in one array.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include "core/base/ids.h"

namespace weir {

/// A link that a flow loads: `weight` bytes for each byte of the flow.
struct LinkUse {
  LinkId link;
  int weight = 1;
  friend auto operator<=>(const LinkUse&, const LinkUse&) = default;
};

/// The links that a flow loads, each once, sorted by id. Never empty.
using Path = std::vector<LinkUse>;
/// A view of a path that another object owns.
using PathView = std::span<const LinkUse>;

/// Paths by position. Views of them are valid until the next add().
class Paths {
 public:
  Paths() = default;
  Paths(std::initializer_list<Path> paths) {
    for (const Path& path : paths) add(path);
  }

  std::size_t size() const { return ends_.size(); }
  PathView operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {uses_.data() + begin, ends_[i] - begin};
  }
  void add(PathView path) {
    uses_.insert(uses_.end(), path.begin(), path.end());
    ends_.push_back(uses_.size());
  }
  /// All links of all paths, so that they can get other ids; the order must stay the same.
  std::span<LinkUse> uses() { return uses_; }

 private:
  std::vector<LinkUse> uses_;
  std::vector<std::size_t> ends_;  // by path: its end in uses_
};

}  // namespace weir
