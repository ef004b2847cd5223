// Draws a topology as a graph for Graphviz: the inside of one machine of each group, and the network.
#pragma once

#include <string>

#include "core/cluster/topology.h"

namespace weir {

/// Text for `dot`. Edges are labelled with rates, with both if the two directions differ.
std::string topology_graphviz(const Topology& topology);

}  // namespace weir
