// What plain TCP connections move between the machines of a lab, compared with the topology's rates.
#pragma once

#include <vector>

#include "backends/real/lab/lab.h"
#include "backends/real/lab/raw_rate.h"
#include "core/cluster/cluster.h"

namespace weir {

/// One connection from a machine to the next.
struct PairRate {
  MachineId from;
  MachineId into;
  BytesPerSecond topology;
  BytesPerSecond alone;
  BytesPerSecond together;  // while all machines send to the next one, so that every NIC is busy both ways
};

/// What a machine sends and receives while each machine has a connection to each other one.
struct MachineRates {
  MachineId machine;
  BytesPerSecond topology_out;
  BytesPerSecond out;
  BytesPerSecond topology_in;
  BytesPerSecond in;
};

/// One result for each machine; there must be at least two machines.
Result<std::vector<PairRate>> pair_rates(real::Lab& lab, const Cluster& cluster,
                                         const real::RateSettings& settings);
Result<std::vector<MachineRates>> all_to_all_rates(real::Lab& lab, const Cluster& cluster,
                                                   const real::RateSettings& settings);

/// The most that a connection between two machines' first NICs can move: the lowest rate of the shaped links
/// on its way.
BytesPerSecond shaped_rate(const Cluster& cluster, MachineId from, MachineId into);

}  // namespace weir
