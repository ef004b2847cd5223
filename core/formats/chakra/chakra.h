// Makes traces from Chakra execution traces (MLCommons). Each collective that sums gradients becomes a layer,
// with the computation up to the point where its bytes are ready. docs/traces.md has the rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/formats/imported_trace.h"

namespace weir {

struct ChakraImport {
  std::vector<std::string> files;    // one for each rank
  std::optional<std::string> group;  // the group whose collectives sum gradients; needed if several sum
  Dtype dtype = Dtype::kF32;         // of gradients
  AboutTrace about;
};

/// Imports the trace. With several ranks, all must sum the same bytes, and the trace has the times of the
/// slowest. Every error names the file, and the node if it is about one.
Result<ImportedTrace> import_chakra(const ChakraImport& what);

}  // namespace weir
