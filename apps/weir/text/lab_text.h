// What a lab says of itself, as tables.
#pragma once

#include <string>
#include <vector>

#include "backends/real/lab/lab.h"
#include "core/cluster/cluster.h"
#include "studies/lab/lab_run.h"
#include "studies/lab/link_rates.h"

namespace weir {

/// The machines with their addresses and the rates that their NICs are shaped to, and the uplinks of racks;
/// with a keeper also where the machines' networks can be entered.
std::string lab_table(const Cluster& cluster, const real::Keeper* keeper);

/// One line: how the machines of a kept lab share CPUs.
std::string shares_text(const real::Keeper& keeper);

/// Print what commands print in the machines: each line after its machine's name.
LabEvents shown_lines(const Cluster& cluster);

/// What connections between machines move, as tables with titles.
std::string text(const std::vector<PairRate>& rates, const Cluster& cluster);
std::string text(const std::vector<MachineRates>& rates, const Cluster& cluster);

}  // namespace weir
