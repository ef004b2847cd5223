// Makes traces from recordings of PyTorch's profiler (Kineto). Ops of the forward pass that use parameters
// become layers, AccumulateGrad shows their tensors, and times come from the GPU's stream. docs/traces.md has
// the rules.
#pragma once

#include <optional>
#include <string>

#include "core/formats/imported_trace.h"

namespace weir {

struct KinetoImport {
  std::vector<std::string> files;    // of the ranks of one job
  std::optional<int> rank;           // the rank to import; needed if there are several files
  std::optional<std::int64_t> step;  // N of ProfilerStep#N; by default the last step that another follows
  AboutTrace about;
};

/// Every error names the file and says what would be right.
Result<ImportedTrace> import_kineto(const KinetoImport& what);

}  // namespace weir
