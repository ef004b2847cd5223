// Which NIC of a machine carries what, where a machine has several.
#pragma once

#include <utility>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/strategies/blocks/options.h"

namespace weir {

/// The fraction of the machine's traffic that each of its NICs carries when all are equally busy: in
/// proportion to their rates (the slower direction's). A machine without NICs has one fraction of 1.
std::vector<double> nic_fractions(const Cluster& cluster, MachineId machine);

/// The NUMA node that the machine's NIC hangs at; 0 if the machine has none.
int numa_of_nic(const Cluster& cluster, MachineId machine, int nic);

/// A NUMA node and the fraction of the bytes of a NIC that lie there.
struct NumaFraction {
  int numa = 0;
  double fraction = 1.0;
};

/// Where the bytes of one of the machine's NICs lie.
std::vector<NumaFraction> numa_fractions(const Cluster& cluster, MachineId machine, int nic,
                                         NumaPlacement placement);

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

/// Deals bytes of NICs out to NUMA nodes by their fractions.
class NumaTurns {
 public:
  NumaTurns(const Cluster& cluster, NumaPlacement placement);

  /// The NUMA node where these bytes of the NIC are to lie.
  int take(MachineId machine, int nic, Bytes bytes);

 private:
  struct Choice {
    std::vector<NumaFraction> numas;
    Turns turns;
  };
  std::vector<std::vector<Choice>> choices_;  // by machine and NIC
};

/// How long the NICs of the slowest GPU machine take to send and receive these bytes.
Duration time_at_nics(const Cluster& cluster, Bytes bytes);

}  // namespace weir
