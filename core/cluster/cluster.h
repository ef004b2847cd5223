// The machines of a cluster and every directed link between their memories, with all counts expanded.
// Planners reason about it and worlds build it. Users describe it in topology files (topology.h).
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

/// A value: copies and compares by content. Invariants: there is at least one machine. Every machine has at
/// least one NUMA node and, if there are several machines, at least one NIC. Any memory reaches any other.
class Cluster {
 public:
  /// Expands a valid topology (topology_file.h checks files first).
  explicit Cluster(const Topology& topology);

  const std::string& name() const { return name_; }
  const std::vector<Machine>& machines() const { return machines_; }
  const Machine& machine(MachineId id) const { return machines_[id.index()]; }
  /// All links that can delay bytes (their rates are limited), and all links of NICs.
  const std::vector<Link>& links() const { return links_; }
  const Link& link(LinkId id) const { return links_[id.index()]; }

  /// The machine that the link belongs to; none for links of the network.
  std::optional<MachineId> machine_of(LinkId link) const;
  /// The first of a machine's links. Their ids are consecutive, in an order that all machines of the group
  /// share.
  LinkId first_link(MachineId id) const { return LinkId(first_link_[id.index()]); }

  /// The machines with GPUs and the machines without, each in order of id.
  const std::vector<MachineId>& gpu_machines() const { return gpu_machines_; }
  const std::vector<MachineId>& cpu_machines() const { return cpu_machines_; }

  /// The route between two memories of one machine. Within one memory it is the bus only, which appears
  /// twice, because a copy both reads and writes.
  Route route(MachineId machine, Memory from, Memory into) const;

  /// The route from a memory of one machine through its NIC, the network and the other machine's NIC into a
  /// memory there. Within one machine it goes out of one NIC and in through the other, without the network.
  Route route(MachineId from_machine, Memory from, int from_nic, MachineId into_machine, Memory into,
              int into_nic) const;

  /// All NICs that reach the memory over the fewest links, in order of index.
  std::vector<int> nearest_nics(MachineId machine, Memory memory) const;

  /// The NIC for the GPU's share of a sharded message: one of the nearest. GPUs take these in turn.
  int nic_of_gpu(MachineId machine, int gpu) const;

  /// Machines of one class are interchangeable: they are equal inside, and their racks hold equally many
  /// machines of each group. Classes are numbered from 0 in the order of their first machines.
  int machine_class(MachineId id) const { return machine_class_[id.index()]; }

  friend bool operator==(const Cluster&, const Cluster&) = default;

 private:
  friend struct Subcluster;

  /// The uplink of a rack in both directions. A network without racks has none.
  struct Rack {
    LinkId up;
    LinkId down;
    friend bool operator==(const Rack&, const Rack&) = default;
  };

  void add_machine(const Topology& topology, std::size_t group, int number);
  void add_racks(const NetworkSpec& network);
  void classify();
  const RouteTable& table(MachineId id) const { return tables_[group_[id.index()]]; }

  /// The machine's links are consecutive from first_link_ on, in the order of its group's table.
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
