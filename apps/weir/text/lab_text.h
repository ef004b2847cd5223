// Descriptions of a lab as tables.
#pragma once

#include <string>
#include <vector>

#include "backends/real/lab/lab.h"
#include "core/cluster/cluster.h"
#include "studies/lab/lab_run.h"
#include "studies/lab/link_rates.h"

namespace weir {

/// Tables of the machines, with their addresses and NIC rates, and of the uplinks of racks. With a keeper
/// they also show how to enter the machines' networks.
std::string lab_table(const Cluster& cluster, const real::Keeper* keeper);

/// One line on how the machines of a kept lab share CPUs.
std::string shares_text(const real::Keeper& keeper);

/// Events that print each line that a command prints in a machine, after the machine's name.
LabEvents shown_lines(const Cluster& cluster);

/// The rates that connections between machines achieve, as tables with titles.
std::string text(const std::vector<PairRate>& rates, const Cluster& cluster);
std::string text(const std::vector<MachineRates>& rates, const Cluster& cluster);

}  // namespace weir
