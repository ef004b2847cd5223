#include "core/strategies/blocks/two_trees.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "tests/catch.h"

namespace weir {
namespace {

std::set<std::pair<int, int>> neighbours(const Tree& tree) {
  std::set<std::pair<int, int>> pairs;
  for (int i = 0; i < static_cast<int>(tree.parent.size()); ++i) {
    const int parent = tree.parent[static_cast<std::size_t>(i)];
    if (parent >= 0) pairs.emplace(std::min(i, parent), std::max(i, parent));
  }
  return pairs;
}

TEST_CASE("two trees span all machines, children before parents, with logarithmic depth") {
  for (int count = 1; count <= 300; ++count) {
    INFO(count << " machines");
    for (const Tree& tree : two_trees(count)) {
      CHECK(tree.upwards.size() == static_cast<std::size_t>(count));
      std::vector<bool> seen(static_cast<std::size_t>(count));
      for (const int i : tree.upwards) {
        CHECK_FALSE(seen[static_cast<std::size_t>(i)]);
        for (const int child : tree.children[static_cast<std::size_t>(i)]) {
          CHECK(seen[static_cast<std::size_t>(child)]);
          CHECK(tree.parent[static_cast<std::size_t>(child)] == i);
        }
        seen[static_cast<std::size_t>(i)] = true;
      }
      CHECK(tree.parent[static_cast<std::size_t>(tree.upwards.back())] == -1);
      CHECK(neighbours(tree).size() == static_cast<std::size_t>(count - 1));
      CHECK(tree.depth == static_cast<int>(std::floor(std::log2(count))));
    }
  }
}

TEST_CASE("no machine has more than four neighbours in two trees, and none twice") {
  for (int count = 4; count <= 300; ++count) {
    INFO(count << " machines");
    const auto [first, second] = two_trees(count);
    std::set<std::pair<int, int>> all = neighbours(first);
    all.merge(neighbours(second));
    CHECK(all.size() == static_cast<std::size_t>(2 * (count - 1)));
    std::vector<int> degrees(static_cast<std::size_t>(count));
    for (const auto& [a, b] : all) {
      ++degrees[static_cast<std::size_t>(a)];
      ++degrees[static_cast<std::size_t>(b)];
    }
    CHECK(*std::max_element(degrees.begin(), degrees.end()) == (count == 4 ? 3 : 4));
  }
}

}  // namespace
}  // namespace weir
