// Two complementary binary trees over machines in line (Sanders, Speck, Traff, Two-tree algorithms for full
// bandwidth broadcast, reduction and scan, Parallel Computing 2009).
#pragma once

#include <array>
#include <vector>

namespace weir {

/// A tree over machines, which are identified by position.
struct Tree {
  std::vector<int> parent;  // -1 at the root
  std::vector<std::vector<int>> children;
  std::vector<int> upwards;  // positions, children before parents
  int depth = 0;             // steps from the farthest leaf to the root
};

/// Both trees over this many machines. They are about log2(count) deep, and have these properties:
///  * A machine is an inner node of one tree at most. So it has at most four neighbours, counted by tree.
///  * From five machines on, and for four, no two machines are neighbours in both trees. Otherwise twice the
///    bytes would go between these two, through links that are shared evenly between pairs.
///  * Most neighbours are near in line.
/// Four machines get two paths, in which everyone has three neighbours.
std::array<Tree, 2> two_trees(int count);

}  // namespace weir
