// The machines of a cluster and every directed link between their memories, with all counts expanded: what a
// planner reasons about and a world builds. Topology files (topology.h) are the way to write one down.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cluster/machine.h"
#include "core/cluster/route_table.h"

namespace weir {

struct NetworkSpec;
struct Subcluster;
struct Topology;

/// A value: copies and compares by content. Invariants: at least one machine; every machine has at least one
/// NUMA node and, if the cluster has several machines, at least one NIC; any memory reaches any other.
class Cluster {
 public:
  /// Expands a valid topology (topology.h checks files before).
  explicit Cluster(const Topology& topology);

  const std::string& name() const { return name_; }
  const std::vector<Machine>& machines() const { return machines_; }
  const Machine& machine(MachineId id) const { return machines_[id.index()]; }
  /// Every link that can hold bytes up, and all links of NICs.
  const std::vector<Link>& links() const { return links_; }
  const Link& link(LinkId id) const { return links_[id.index()]; }

  /// The machine that the link is part of; none of links of the network.
  std::optional<MachineId> machine_of(LinkId link) const;
  /// A machine's links have ids one after the other from this on, in an order that machines of one group
  /// share.
  LinkId first_link(MachineId id) const { return LinkId(first_link_[id.index()]); }

  /// Machines with GPUs and machines without, each in order of id.
  const std::vector<MachineId>& gpu_machines() const { return gpu_machines_; }
  const std::vector<MachineId>& cpu_machines() const { return cpu_machines_; }

  /// The route between two memories of one machine. Within one memory: its bus alone (a copy reads and writes
  /// it, so it appears twice).
  Route route(MachineId machine, Memory from, Memory into) const;

  /// The route from a memory of one machine through its NIC, the network and the other machine's NIC into a
  /// memory there. To the same machine it is the way out of the NIC and back in, without the network.
  Route route(MachineId from_machine, Memory from, int from_nic, MachineId into_machine, Memory into,
              int into_nic) const;

  /// The NIC through which the memory is reached over the fewest links (ties by index), and all NICs at that
  /// distance.
  std::vector<int> nearest_nics(MachineId machine, Memory memory) const;

  /// The NIC that the GPU's share of a sharded message goes through: one of the nearest, in turn by GPU.
  int nic_of_gpu(MachineId machine, int gpu) const;

  /// Machines of one class are interchangeable: equal inside, and in racks that hold equally many machines of
  /// each group. Classes are numbered from 0 in the order of their first machines.
  int machine_class(MachineId id) const { return machine_class_[id.index()]; }

  friend bool operator==(const Cluster&, const Cluster&) = default;

 private:
  friend struct Subcluster;

  /// The rack's own links; none in a network without racks.
  struct Rack {
    LinkId up;
    LinkId down;
    friend bool operator==(const Rack&, const Rack&) = default;
  };

  void add_machine(const Topology& topology, std::size_t group, int number);
  void add_racks(const NetworkSpec& network);
  void classify();
  const RouteTable& table(MachineId id) const { return tables_[group_[id.index()]]; }

  /// The machine's links stand together from first_link_ on, in the order of its group's table.
  LinkId link_of(MachineId id, LinkId local) const { return LinkId(first_link_[id.index()] + local.index()); }

  std::string name_;
  std::vector<Machine> machines_;
  std::vector<Link> links_;
  std::vector<MachineId> gpu_machines_;
  std::vector<MachineId> cpu_machines_;
  std::vector<RouteTable> tables_;       // one a group
  std::vector<std::size_t> group_;       // of each machine
  std::vector<std::size_t> first_link_;  // of each machine
  std::vector<int> machine_class_;       // of each machine
  std::vector<Rack> racks_;
  Duration network_latency_;
  Duration rack_latency_;  // of each uplink
};

}  // namespace weir
