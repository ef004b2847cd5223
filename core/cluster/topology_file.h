// Reads topology files and reports every mistake, writes them in full, and writes their schema.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/base/result.h"
#include "core/cluster/topology.h"
#include "core/document/document.h"

namespace weir {

/// Reads and checks the file. A Cluster can be made from the result.
Result<Topology> read_topology(const std::string& file);

/// Reads and checks the topology in a document or in a part of one. `path` is the place of that part in its
/// document.
Result<Topology> read_topology(const Value& value, const std::string& path = "");

/// Checks what no single field shows: whether names exist, and whether links join all that must be reachable.
Result<void> check_topology(const Topology& topology);

/// The topology as JSON, with every default filled in.
nlohmann::ordered_json write_topology(const Topology& topology);

/// The JSON Schema of topology files.
std::string topology_schema();

}  // namespace weir
