// One machine of a group as a graph of NUMA nodes, switches, GPUs and NICs, and the search for routes in it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster/machine.h"
#include "core/cluster/topology.h"

namespace weir {

/// Links are numbered within the machine; their names leave out the machine: "gpu2.up".
class MachineGraph {
 public:
  /// The group must be valid (topology_file.h checks it).
  explicit MachineGraph(const GroupSpec& group);

  const std::vector<Link>& links() const { return links_; }

  std::size_t numa(std::size_t i) const { return i; }
  std::size_t gpu(std::size_t i) const { return first_gpu_ + i; }
  std::size_t nic(std::size_t i) const { return first_nic_ + i; }

  /// A NIC with its links and its nearest NUMA node.
  const Nic& nic_device(std::size_t i) const { return nics_[i]; }

  /// The NUMA nodes with the links of their buses and cores.
  const std::vector<Numa>& numa_devices() const { return numas_; }

  struct Path {
    Route route;
    int hops = 0;  // edges crossed, limited or not
  };

  /// The path with the widest bottleneck; among equals, the one with the fewest edges; then the one through
  /// the lowest vertices. No path leads through a GPU or NIC. Between two NICs there may be no path.
  Path path(std::size_t from, std::size_t into) const;

 private:
  struct Edge {
    std::size_t into = 0;
    LinkId link;       // none if unlimited
    LinkId peer_link;  // an additional link for device-to-device traffic; none if unlimited
    BytesPerSecond rate;
    BytesPerSecond peer_rate;
    Duration latency;
    BytesPerSecond rate_for(bool peer) const { return peer ? std::min(rate, peer_rate) : rate; }
  };

  void add_numas(const GroupSpec& group);
  void add_switches(const GroupSpec& group);
  void add_gpus(const GroupSpec& group);
  void add_nvlink(const NvlinkSpec& nvlink);
  void add_nics(const GroupSpec& group);
  void add_cores();

  std::size_t add_vertex(bool forwards);
  std::size_t place(const GroupSpec& group, std::string_view at) const;
  LinkId add_link(std::string name, Link::Kind kind, BytesPerSecond rate, Duration latency);
  Edge& add_edge(std::size_t from, std::size_t into, const std::string& name, Link::Kind kind,
                 BytesPerSecond rate, Duration latency);
  BytesPerSecond bottleneck(std::size_t from, std::size_t into, bool peer) const;

  std::vector<Link> links_;
  std::vector<std::vector<Edge>> edges_;  // of each vertex
  std::vector<bool> forwards_;            // of each vertex
  std::vector<Numa> numas_;
  std::vector<Nic> nics_;
  std::size_t first_gpu_ = 0;
  std::size_t first_nic_ = 0;
};

}  // namespace weir
