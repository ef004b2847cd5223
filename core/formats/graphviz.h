// A topology as a graph for Graphviz: one machine of each group with what is inside, and the network.
#pragma once

#include <string>

#include "core/cluster/topology.h"

namespace weir {

/// For `dot`. Edges carry rates, both where the two ways differ.
std::string topology_graphviz(const Topology& topology);

}  // namespace weir
