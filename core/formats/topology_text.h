// Writes a topology as a file for people to edit: without default values, and with short objects on one line.
#pragma once

#include <string>

#include "core/cluster/topology.h"

namespace weir {

/// The text, which reads back as the same topology.
std::string topology_text(const Topology& topology);

}  // namespace weir
