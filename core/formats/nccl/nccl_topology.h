// Topologies out of the files that NCCL writes (NCCL_TOPO_DUMP_FILE) and reads (NCCL_TOPO_FILE), with the
// rates that NCCL itself gives to what they name. docs/guide.md says what becomes of what.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/cluster/topology.h"
#include "core/formats/nccl/nccl_attributes.h"

namespace weir {

struct NcclImport {
  std::vector<std::string> files;
  std::string name;  // of the topology; that of the first file if empty
  int count = 1;     // how many machines each file stands for
  nccl::Unsaid unsaid;
};

struct Imported {
  Topology topology;  // checked
  /// What was assumed, a line each: "machine.xml:12: link_speed is empty: ...".
  std::vector<std::string> warnings;
};

/// Equal machines become one group. Every mistake of a file is told with its line.
Result<Imported> import_nccl(const NcclImport& what);

}  // namespace weir
