// A part of a cluster: some of its machines as a cluster of their own, for a job that shares the cluster with
// other jobs.
#pragma once

#include <string>
#include <vector>

#include "core/cluster/cluster.h"

namespace weir {

/// A value. The part holds the chosen machines with their names and links, and all links of the network.
/// Rates are the same as in the whole cluster.
struct Subcluster {
  /// `chosen` are machines of the whole cluster: at least one, in ascending order.
  Subcluster(const Cluster& whole, std::vector<MachineId> chosen);
  /// The whole cluster as a subcluster.
  explicit Subcluster(const Cluster& whole);

  Cluster cluster;
  std::vector<MachineId> machines;  // for each machine of the part, its id in the whole
  std::vector<LinkId> links;        // likewise for links
};

/// All machines or links whose names match the pattern, in order of id. '*' stands for any text: "gpu[*]",
/// "gpu[3].nic*.out".
std::vector<MachineId> machines_named(const std::string& pattern, const Cluster& cluster);
std::vector<MachineId> machines_named(const std::vector<std::string>& patterns, const Cluster& cluster);
std::vector<LinkId> links_named(const std::string& pattern, const Cluster& cluster);

}  // namespace weir
