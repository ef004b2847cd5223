// Everything that determines the result of a run, except the program and the world. Results are stored under
// it, so that none is computed twice or taken for that of other inputs.
#pragma once

#include <string>

#include "core/experiment/experiment.h"

namespace weir {

/// The inputs at one point. A value; the experiment must outlive it.
class RunInputs {
 public:
  explicit RunInputs(const Experiment& experiment);

  /// The inputs for one of its strategies or variants with one seed: every option, defaults included, and the
  /// whole topology and trace. Leaves out names that matter only in the experiment, the baseline, and what is
  /// drawn.
  std::string text(const std::string& contender, std::uint64_t seed) const;

 private:
  const Experiment& experiment_;
  std::string sources_;  // the topology and the trace
};

}  // namespace weir
