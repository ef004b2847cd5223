// What importers of traces give back, and how they finish a trace.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/workload/trace.h"

namespace weir {

/// What files do not tell of a trace.
struct AboutTrace {
  std::string name;  // that of the file if empty
  std::int64_t batch = 1;
  std::string sample = "iteration";
  bool update = true;  // whether what follows the last gradient counts, as the optimizer's step does

  /// Whether the batch was said.
  bool told() const { return batch != 1 || sample != "iteration"; }
};

struct ImportedTrace {
  Trace trace;  // checked
  /// What was assumed, and what the file tells beside the trace, a line each.
  std::vector<std::string> remarks;
};

/// Spreads the time over the forward passes of layers with tensors, by their bytes.
void spread_by_bytes(Trace& trace, Duration time);

/// The trace with what is said about it, and with remarks that begin with the name of the file that it was
/// made of, if it passes the checks of trace files.
Result<ImportedTrace> finished(Trace trace, const AboutTrace& about, const std::string& file,
                               const std::vector<std::string>& remarks);

}  // namespace weir
