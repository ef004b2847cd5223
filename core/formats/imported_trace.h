// The result of trace importers, and the last steps that all importers share.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/workload/trace.h"

namespace weir {

/// What a trace needs that imported files do not contain.
struct AboutTrace {
  std::string name;  // if empty, the name of the file
  std::int64_t batch = 1;
  std::string sample = "iteration";
  bool update = true;  // whether to count time after the last gradient, such as the optimizer's step

  /// Whether the user stated the batch.
  bool states_batch() const { return batch != 1 || sample != "iteration"; }
};

struct ImportedTrace {
  Trace trace;  // checked
  /// Assumptions, and further facts from the file, one a line.
  std::vector<std::string> remarks;
};

/// Spreads the time over the forward passes of the layers with tensors, in proportion to their bytes.
void spread_by_bytes(Trace& trace, Duration time);

/// Completes the trace with `about`, and puts the name of its file in front of each remark. Fails if the
/// trace does not pass the checks of trace files.
Result<ImportedTrace> finished(Trace trace, const AboutTrace& about, const std::string& file,
                               const std::vector<std::string>& remarks);

}  // namespace weir
