// Which NIC of a machine carries which bytes, if a machine has several.
#pragma once

#include <utility>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/strategies/blocks/options.h"

namespace weir {

/// The fraction of the machine's traffic that each NIC carries when all are equally busy: in proportion to
/// their rates (of the slower direction). For a machine without NICs, a single fraction of 1.
std::vector<double> nic_fractions(const Cluster& cluster, MachineId machine);

/// The NUMA node nearest to the machine's NIC; 0 if the machine has none.
int numa_of_nic(const Cluster& cluster, MachineId machine, int nic);

/// A NUMA node, and the fraction of a NIC's bytes that lie there.
struct NumaFraction {
  int numa = 0;
  double fraction = 1.0;
};

/// The NUMA nodes where the bytes of one of the machine's NICs lie.
std::vector<NumaFraction> numa_fractions(const Cluster& cluster, MachineId machine, int nic,
                                         NumaPlacement placement);

/// Distributes bytes among several things so that each always has about its fraction of them.
class Turns {
 public:
  explicit Turns(std::vector<double> fractions)
      : fractions_(std::move(fractions)), bytes_(fractions_.size()) {}

  /// Which one gets these bytes: the one that would be least ahead of its fraction with them; the lower index
  /// on ties.
  std::size_t take(Bytes bytes);

 private:
  std::vector<double> fractions_;  // each above 0
  std::vector<double> bytes_;      // given so far
};

/// Distributes bytes among the NICs of each machine, so that all are always about equally busy. Use one
/// object for each kind of traffic of a strategy: kinds that load different links of the machine are balanced
/// separately.
class NicTurns {
 public:
  explicit NicTurns(const Cluster& cluster);

  /// The NIC that would finish these bytes first, after all that it was given before; the lower index on
  /// ties.
  int take(MachineId machine, Bytes bytes) { return static_cast<int>(turns_[machine.index()].take(bytes)); }

 private:
  std::vector<Turns> turns_;  // by machine
};

/// Distributes bytes of NICs among NUMA nodes by their fractions.
class NumaTurns {
 public:
  NumaTurns(const Cluster& cluster, NumaPlacement placement);

  /// The NUMA node where these bytes of the NIC should lie.
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
