// The routes inside one machine of a group, computed once and shared by all machines of the group. Links are
// numbered within the machine.
#pragma once

#include <string>
#include <vector>

#include "core/cluster/machine.h"

namespace weir {

struct GroupSpec;

class RouteTable {
 public:
  explicit RouteTable(const GroupSpec& group);

  /// The links of the machine. Their names leave out the machine: "gpu2.up".
  const std::vector<Link>& links() const { return links_; }
  /// The NUMA nodes of the machine with the links of their buses and cores.
  const std::vector<Numa>& numas() const { return numa_devices_; }
  /// The NICs of the machine, with their links out and in.
  const std::vector<Nic>& nics() const { return nics_; }

  /// The route between two memories.
  const Route& between(Memory from, Memory into) const {
    return between_[index(from) * memories() + index(into)];
  }
  /// The routes from a memory out through a NIC, and in through a NIC to a memory.
  const Route& out(Memory from, int nic) const { return out_[index(from, nic)]; }
  const Route& in(int nic, Memory into) const { return in_[index(into, nic)]; }
  /// The number of links between the memory and the NIC, limited or not.
  int hops(Memory from, int nic) const { return hops_[index(from, nic)]; }

  friend bool operator==(const RouteTable&, const RouteTable&) = default;

 private:
  std::size_t memories() const { return numas_ + gpus_; }
  std::size_t index(Memory memory) const;
  std::size_t index(Memory memory, int nic) const;

  std::size_t numas_;
  std::size_t gpus_;
  std::vector<Link> links_;
  std::vector<Numa> numa_devices_;
  std::vector<Nic> nics_;
  std::vector<Route> between_;
  std::vector<Route> out_;
  std::vector<Route> in_;
  std::vector<int> hops_;
};

}  // namespace weir
