// Clusters for tests, and routes as text.
#pragma once

#include <string>

#include "core/cluster/cluster.h"
#include "core/cluster/topology.h"

namespace weir {

/// The topology in this text, which must be valid.
Topology topology_of(const std::string& text);
Cluster cluster_of(const std::string& text);

/// The topology with this name in topologies/.
Topology shipped_topology(const std::string& name);

/// The names of the links, with spaces between them.
std::string names(const Cluster& cluster, const std::vector<LinkId>& links);

}  // namespace weir
