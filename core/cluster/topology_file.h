// Topology files: reading them with every mistake told, writing them in full, and their schema.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/base/result.h"
#include "core/cluster/topology.h"
#include "core/document/document.h"

namespace weir {

/// The topology in the file, checked: a Cluster can be made of it.
Result<Topology> read_topology(const std::string& file);

/// The topology in a document or in a part of one, checked. The path is where that part stands in its
/// document.
Result<Topology> read_topology(const Value& value, const std::string& path = "");

/// What no single field shows: names that must exist, links that must join, machines that must be reachable.
Result<void> check_topology(const Topology& topology);

/// The topology as JSON with every default filled in.
nlohmann::ordered_json write_topology(const Topology& topology);

/// The JSON Schema of topology files.
std::string topology_schema();

}  // namespace weir
