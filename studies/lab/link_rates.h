// What plain TCP connections move between the machines of a lab, beside what the topology gives them.
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
  BytesPerSecond together;  // while all machines send to the next, when every NIC is busy both ways
};

/// What a machine sends and receives while each has a connection to each other one.
struct MachineRates {
  MachineId machine;
  BytesPerSecond topology_out;
  BytesPerSecond out;
  BytesPerSecond topology_in;
  BytesPerSecond in;
};

/// One for each machine; there are two at least.
Result<std::vector<PairRate>> pair_rates(real::Lab& lab, const Cluster& cluster,
                                         const real::RateSettings& settings);
Result<std::vector<MachineRates>> all_to_all_rates(real::Lab& lab, const Cluster& cluster,
                                                   const real::RateSettings& settings);

/// What a connection between two machines' first NICs can move at most: the least rate of the links that are
/// shaped.
BytesPerSecond shaped_rate(const Cluster& cluster, MachineId from, MachineId into);

}  // namespace weir
