// Which values of a topology the links of its cluster have their rates and latencies from: so that what a
// result used can be named as the file does.
#pragma once

#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/cluster/topology.h"

namespace weir {

/// Paths as of Value::set(). Empty where the link has none: a latency of zero that is no network's.
struct LinkValues {
  std::string rate;  // of a link of cores, that of all types of elements: "groups.cpu.numa.0.sum_rate"
  std::string latency;
};

/// By link of the topology's cluster.
std::vector<LinkValues> link_values(const Topology& topology, const Cluster& cluster);

/// Latencies within machines of a group that links of unlimited rates have, which the cluster does not keep:
/// any route there may cross them.
std::vector<std::string> latencies_without_links(const GroupSpec& group);

/// The path of the spec that the device of this number stands in: specs have a count each.
template <class Spec>
std::size_t spec_of(const std::vector<Spec>& specs, int number) {
  std::size_t index = 0;
  while (index + 1 < specs.size() && number >= specs[index].count) number -= specs[index++].count;
  return index;
}

}  // namespace weir
