#include "core/strategies/blocks/two_trees.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace weir {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// Sets the parents over [low, high) in symmetric order, like a search tree: odd places are inner nodes and
// even ones are leaves, as far as the count allows.
void grow(std::vector<int>& parents, int low, int high, int parent) {
  if (low >= high) return;
  int reach = 1;
  while (reach * 2 <= high - low) reach *= 2;
  const int root = low + reach - 1;
  parents[at(root)] = parent;
  grow(parents, low, root, root);
  grow(parents, root + 1, high, root);
}

// The tree with these parents, by place. The node at place i is the machine at positions[i].
Tree planted(const std::vector<int>& parents, const std::vector<int>& positions) {
  Tree tree{std::vector<int>(parents.size(), -1), std::vector<std::vector<int>>(parents.size()), {}, 0};
  std::vector<std::pair<int, int>> nodes;  // by depth, the deepest first
  for (std::size_t i = 0; i < parents.size(); ++i) {
    int depth = 0;
    for (int above = parents[i]; above >= 0; above = parents[at(above)]) ++depth;
    nodes.emplace_back(-depth, positions[i]);
    tree.depth = std::max(tree.depth, depth);
    if (parents[i] < 0) continue;
    const int parent = positions[at(parents[i])];
    tree.parent[at(positions[i])] = parent;
    tree.children[at(parent)].push_back(positions[i]);
  }
  std::sort(nodes.begin(), nodes.end());
  for (const auto& [depth, position] : nodes) tree.upwards.push_back(position);
  return tree;
}

// The second tree is the first with its positions mirrored (even count) or shifted by one (odd count). This
// turns inner positions into leaves. A leaf would then often be the child of its own child in the first tree.
// So leaves move on by one leaf: backwards if the count is a multiple of four, otherwise forwards.
std::vector<int> second_positions(const std::vector<int>& parents) {
  const int count = static_cast<int>(parents.size());
  std::vector<int> positions;
  for (int i = 0; i < count; ++i) positions.push_back(count % 2 == 0 ? count - 1 - i : (i + 1) % count);
  std::vector<bool> inner(parents.size());
  for (const int parent : parents) {
    if (parent >= 0) inner[at(parent)] = true;
  }
  std::vector<int> leaves;  // places
  for (int i = 0; i < count; ++i) {
    if (!inner[at(i)]) leaves.push_back(i);
  }
  const std::size_t step = count % 4 == 0 ? leaves.size() - 1 : 1;
  const std::vector<int> plain = positions;
  for (std::size_t i = 0; i < leaves.size(); ++i)
    positions[at(leaves[i])] = plain[at(leaves[(i + step) % leaves.size()])];
  return positions;
}

}  // namespace

std::array<Tree, 2> two_trees(int count) {
  std::vector<int> in_line(at(count));
  std::iota(in_line.begin(), in_line.end(), 0);
  if (count == 4) {
    const std::vector<int> path{1, -1, 1, 2};
    return {planted(path, in_line), planted(path, {1, 3, 0, 2})};
  }
  std::vector<int> parents(in_line.size(), -1);
  grow(parents, 0, count, -1);
  return {planted(parents, in_line), planted(parents, second_positions(parents))};
}

}  // namespace weir
