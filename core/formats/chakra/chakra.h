// Traces out of Chakra execution traces (MLCommons): a layer for each collective that sums gradients, with
// what the device computed until its bytes were there. docs/traces.md says what becomes of what.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/formats/imported_trace.h"

namespace weir {

struct ChakraImport {
  std::vector<std::string> files;    // one a rank
  std::optional<std::string> group;  // whose collectives sum gradients; needed if there are several
  Dtype dtype = Dtype::kF32;         // of gradients
  AboutTrace about;
};

/// Every error names the file and the node. Of several ranks, which must sum the same, the slowest one's
/// times.
Result<ImportedTrace> import_chakra(const ChakraImport& what);

}  // namespace weir
