// Which NIC of a machine carries what, where a machine has several.
#pragma once

#include <vector>

#include "core/cluster/cluster.h"

namespace weir {

/// The fraction of the machine's traffic that each of its NICs carries when all are equally busy: in
/// proportion to their rates (the slower direction's). A machine without NICs has one fraction of 1.
std::vector<double> nic_fractions(const Cluster& cluster, MachineId machine);

/// The NUMA node that the machine's NIC hangs at; 0 if the machine has none.
int numa_of_nic(const Cluster& cluster, MachineId machine, int nic);

/// Shares bytes out among the NICs of each machine, so that at any time all are equally busy. Used by one
/// strategy for one kind of traffic: kinds that load other links of the machine are balanced each by
/// themselves.
class NicTurns {
 public:
  explicit NicTurns(const Cluster& cluster);

  /// The NIC that these bytes keep busy for the shortest time, on top of what it was given before; the lower
  /// index on ties.
  int take(MachineId machine, Bytes bytes);

 private:
  struct Turn {
    double fraction = 0.0;  // of the machine's traffic
    double bytes = 0.0;     // given so far
  };
  std::vector<std::vector<Turn>> turns_;  // by machine and NIC
};

/// How long the NICs of the slowest GPU machine take to send and receive these bytes.
Duration time_at_nics(const Cluster& cluster, Bytes bytes);

}  // namespace weir
