// A Chakra execution trace as the graph that it is: every parent there, no circle, and an order in which one
// device would run it.
#pragma once

#include <string>
#include <vector>

#include "core/formats/chakra/chakra_nodes.h"

namespace weir::chakra {

/// A value. Positions are those of nodes in the list that it was made of, which outlives it.
struct Graph {
  std::vector<std::vector<std::size_t>> parents;
  /// Every node after its parents; of those that could be next, the one that started first, then that which
  /// waits for no collective, then that of the smallest id.
  std::vector<std::size_t> order;
};

/// Fails where two nodes have one id, where a parent is missing, and where nodes wait for each other; `file`
/// is what the nodes were read from.
Result<Graph> graph_of(const std::vector<Node>& nodes, const std::string& file);

/// "node 7 ('all-reduce')".
std::string words(const Node& node);

}  // namespace weir::chakra
