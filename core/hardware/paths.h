// The links that flows load. Plans of a thousand machines have millions of paths of a few links each, so they
// lie one after the other in one array.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include "core/base/ids.h"

namespace weir {

/// A link that a flow loads, `weight` times each of its bytes.
struct LinkUse {
  LinkId link;
  int weight = 1;
  friend auto operator<=>(const LinkUse&, const LinkUse&) = default;
};

/// The links that a flow loads, each once, by id. Never empty.
using Path = std::vector<LinkUse>;
/// One that another owns.
using PathView = std::span<const LinkUse>;

/// Paths by their position. Views of them hold until one is added.
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
  /// All links of all paths, to be given other ids in the same order.
  std::span<LinkUse> uses() { return uses_; }

 private:
  std::vector<LinkUse> uses_;
  std::vector<std::size_t> ends_;  // by path, in uses_
};

}  // namespace weir
