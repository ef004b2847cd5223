// The graph of a Chakra execution trace, checked: there is no cycle. It includes an order in which one device
// would run the nodes.
#pragma once

#include <string>
#include <vector>

#include "core/formats/chakra/chakra_nodes.h"

namespace weir::chakra {

/// A value. All numbers are positions in the list of nodes that the graph was made from.
struct Graph {
  std::vector<std::vector<std::size_t>> parents;
  /// How many further parents each node names that are not in the file. Converters drop nodes but keep
  /// references to them. Such a node waits for its other parents only.
  std::vector<std::size_t> lost;
  /// Every node comes after its parents. Among nodes that could be next, the one that started first is taken,
  /// then one that waits for no collective, then the one with the smallest id.
  std::vector<std::size_t> order;
};

/// Fails if two nodes have the same id, or if nodes wait for each other. `file` is the file that the nodes
/// were read from.
Result<Graph> graph_of(const std::vector<Node>& nodes, const std::string& file);

/// "node 7 ('all-reduce')".
std::string words(const Node& node);

}  // namespace weir::chakra
