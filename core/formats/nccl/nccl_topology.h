// Makes topologies from the files that NCCL writes (NCCL_TOPO_DUMP_FILE) and reads (NCCL_TOPO_FILE), with
// NCCL's own rates. docs/guide/topologies.md has the rules.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/cluster/topology.h"
#include "core/formats/nccl/nccl_attributes.h"

namespace weir {

struct NcclImport {
  std::vector<std::string> files;
  std::string name;  // of the topology; if empty, the name of the first file
  int count = 1;     // how many machines each file stands for
  nccl::UserValues user_values;
};

struct Imported {
  Topology topology;  // checked
  /// Assumptions, one a line: "machine.xml:12: link_speed is empty: ...".
  std::vector<std::string> warnings;
};

/// Imports the files. Equal machines become one group. Every mistake in a file is reported with its line.
Result<Imported> import_nccl(const NcclImport& what);

}  // namespace weir
