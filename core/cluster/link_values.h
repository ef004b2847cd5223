// Which values of a topology determine the rates and latencies of the cluster's links. So a report can name
// the values behind a result by their paths in the file.
#pragma once

#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/cluster/topology.h"

namespace weir {

/// Paths as in Value::set(). The latency's path is empty if the link has none, which is a latency of zero.
struct LinkValues {
  std::string rate;  // for a link of kind kSum, the rate of all types: "groups.cpu.numa.0.sum_rate"
  std::string latency;
};

/// One entry for each link of the topology's cluster.
std::vector<LinkValues> link_values(const Topology& topology, const Cluster& cluster);

/// Paths of the latencies of links with unlimited rates, within machines of a group. The cluster keeps no
/// such links, but any route in the machine may cross them.
std::vector<std::string> latencies_without_links(const GroupSpec& group);

/// The index of the spec that describes the device with this number: each spec describes `count` devices.
template <class Spec>
std::size_t spec_of(const std::vector<Spec>& specs, int number) {
  std::size_t index = 0;
  while (index + 1 < specs.size() && number >= specs[index].count) number -= specs[index++].count;
  return index;
}

}  // namespace weir
