// A topology as the text of a file that people go on to edit: without what is default, and with short things
// on one line.
#pragma once

#include <string>

#include "core/cluster/topology.h"

namespace weir {

/// Reads back as the same topology.
std::string topology_text(const Topology& topology);

}  // namespace weir
