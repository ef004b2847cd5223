// A part of a cluster: some of its machines as a cluster of their own, for a job that runs on these beside
// others.
#pragma once

#include <string>
#include <vector>

#include "core/cluster/cluster.h"

namespace weir {

/// A value. The part has those machines under their names, with their links, and all links of the network, at
/// the rates that they have in the whole.
struct Subcluster {
  /// The machines are the whole's, at least one, in ascending order.
  Subcluster(const Cluster& whole, std::vector<MachineId> chosen);
  /// All of the cluster.
  explicit Subcluster(const Cluster& whole);

  Cluster cluster;
  std::vector<MachineId> machines;  // the whole's, by those of the part
  std::vector<LinkId> links;        // the same of links
};

/// Names may hold '*', which stands for any text: "gpu[*]", "gpu[3].nic*.out". All that are so called, by id.
std::vector<MachineId> machines_named(const std::string& pattern, const Cluster& cluster);
std::vector<MachineId> machines_named(const std::vector<std::string>& patterns, const Cluster& cluster);
std::vector<LinkId> links_named(const std::string& pattern, const Cluster& cluster);

}  // namespace weir
