// Traces out of recordings of PyTorch's profiler (Kineto): layers by the ops of the forward pass that use
// parameters, tensors by AccumulateGrad, times by the GPU's stream. docs/traces.md says what becomes of what.
#pragma once

#include <optional>
#include <string>

#include "core/formats/imported_trace.h"

namespace weir {

struct KinetoImport {
  std::vector<std::string> files;    // of one job's ranks
  std::optional<int> rank;           // whose file; needed if there are several
  std::optional<std::int64_t> step;  // ProfilerStep#N; else the last one that another follows
  AboutTrace about;
};

/// Every error names the file, and what would be right.
Result<ImportedTrace> import_kineto(const KinetoImport& what);

}  // namespace weir
