// The routes inside one machine of a group, found once and shared by all machines of the group. Links carry
// their number within the machine.
#pragma once

#include <string>
#include <vector>

#include "core/cluster/machine.h"

namespace weir {

struct GroupSpec;

class RouteTable {
 public:
  explicit RouteTable(const GroupSpec& group);

  /// The links of the machine, named without it: "gpu2.up".
  const std::vector<Link>& links() const { return links_; }
  /// The NUMA nodes of the machine, with their buses and cores.
  const std::vector<Numa>& numas() const { return numa_devices_; }
  /// The NICs of the machine, with their links out and in.
  const std::vector<Nic>& nics() const { return nics_; }

  /// Between two memories.
  const Route& between(Memory from, Memory into) const {
    return between_[index(from) * memories() + index(into)];
  }
  /// From a memory to the wire of a NIC, and from the wire of a NIC to a memory.
  const Route& out(Memory from, int nic) const { return out_[index(from, nic)]; }
  const Route& in(int nic, Memory into) const { return in_[index(into, nic)]; }
  /// Over how many links, limited or not, the NIC is reached.
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
