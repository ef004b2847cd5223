// Finds the earliest of many times, each of which may change at any moment.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace weir {

/// Times in seconds of things numbered from 0; never, until they are set. A binary tree in which each node
/// holds the earlier of its two children's times. A change costs one step for each node that changes.
class Earliest {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  // Events closer than this count as one instant: doubles resolve no less after an hour and many additions.
  static constexpr double kInstant = 1e-12;

  /// Makes room for `count` things, more than before.
  void grow(std::size_t count) {
    if (count <= leaves_) return;
    const std::size_t before = leaves_;
    const std::vector<double> times(nodes_.begin() + static_cast<std::ptrdiff_t>(before), nodes_.end());
    while (leaves_ < count) leaves_ *= 2;
    nodes_.assign(2 * leaves_, kNever);
    std::ranges::copy(times, nodes_.begin() + static_cast<std::ptrdiff_t>(leaves_));
    for (std::size_t i = leaves_ - 1; i > 0; --i) nodes_[i] = earlier(i);
  }
  void set(std::size_t thing, double time) {
    std::size_t node = leaves_ + thing;
    nodes_[node] = time;
    for (node /= 2; node > 0; node /= 2) {
      const double now = earlier(node);
      if (now == nodes_[node]) return;
      nodes_[node] = now;
    }
  }
  /// The earliest time, and which thing has it: the lowest number if several do.
  double time() const { return nodes_[1]; }
  std::size_t thing() const {
    std::size_t node = 1;
    while (node < leaves_) node = nodes_[2 * node] == nodes_[node] ? 2 * node : 2 * node + 1;
    return node - leaves_;
  }

 private:
  double earlier(std::size_t node) const { return std::min(nodes_[2 * node], nodes_[2 * node + 1]); }

  std::size_t leaves_ = 1;
  std::vector<double> nodes_ = {kNever, kNever};  // the root at 1, the children of i at 2i and 2i + 1
};

}  // namespace weir
