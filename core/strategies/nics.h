// Which NIC of a machine carries what, where a machine has several.
#pragma once

#include <utility>
#include <vector>

#include "core/cluster/cluster.h"

namespace weir {

/// The fraction of the machine's traffic that each of its NICs carries when all are equally busy: in
/// proportion to their rates (the slower direction's). A machine without NICs has one fraction of 1.
std::vector<double> nic_fractions(const Cluster& cluster, MachineId machine);

/// The NUMA node that the machine's NIC hangs at; 0 if the machine has none.
int numa_of_nic(const Cluster& cluster, MachineId machine, int nic);

/// Shares bytes out among things so that each gets its fraction of them at any time.
class Turns {
 public:
  explicit Turns(std::vector<double> fractions)
      : fractions_(std::move(fractions)), bytes_(fractions_.size()) {}

  /// Whose turn these bytes are: of the one that is least ahead of its fraction with them; the lower index on
  /// ties.
  std::size_t take(Bytes bytes);

 private:
  std::vector<double> fractions_;  // above 0
  std::vector<double> bytes_;      // given so far
};

/// Shares bytes out among the NICs of each machine, so that at any time all are equally busy. Used by one
/// strategy for one kind of traffic: kinds that load other links of the machine are balanced each by
/// themselves.
class NicTurns {
 public:
  explicit NicTurns(const Cluster& cluster);

  /// The NIC that these bytes keep busy for the shortest time, on top of what it was given before; the lower
  /// index on ties.
  int take(MachineId machine, Bytes bytes) { return static_cast<int>(turns_[machine.index()].take(bytes)); }

 private:
  std::vector<Turns> turns_;  // by machine
};

/// How long the NICs of the slowest GPU machine take to send and receive these bytes.
Duration time_at_nics(const Cluster& cluster, Bytes bytes);

}  // namespace weir
