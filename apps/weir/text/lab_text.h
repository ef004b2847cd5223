// What a lab says of itself: to people as tables, to programs in their environment.
#pragma once

#include <string>
#include <vector>

#include "backends/real/lab/lab.h"
#include "core/cluster/cluster.h"

namespace weir {

/// The machines with their addresses and the rates that their NICs are shaped to, and the uplinks of racks;
/// with a keeper also where the machines' networks can be entered.
std::string lab_table(const Cluster& cluster, const real::Keeper* keeper);

/// One line: how the machines of a kept lab share CPUs.
std::string shares_text(const real::Keeper& keeper);

/// "WEIR_RANK=0" and the like, for a program that runs in the machine. WEIR_ADDRESSES has commas between
/// machines and + between a machine's NICs.
std::vector<std::string> lab_environment(const Cluster& cluster, MachineId machine);

/// What a connection between two machines' first NICs can move at most: the least rate of the links that are
/// shaped.
BytesPerSecond shaped_rate(const Cluster& cluster, MachineId from, MachineId into);

}  // namespace weir
