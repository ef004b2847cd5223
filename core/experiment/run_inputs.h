// All that the result of a run depends on, but for the program and the world that run it: what a result is
// kept under, so that it is never computed twice nor taken for that of other inputs.
#pragma once

#include <string>

#include "core/experiment/experiment.h"

namespace weir {

/// Of one point. A value; the experiment outlives it.
class RunInputs {
 public:
  explicit RunInputs(const Experiment& experiment);

  /// Of one of its strategies or variants with one seed: every option with its default filled in, the
  /// topology and the trace whole. Names that it has in the experiment alone, what it is compared with and
  /// what is drawn of it are left out.
  std::string text(const std::string& contender, std::uint64_t seed) const;

 private:
  const Experiment& experiment_;
  std::string sources_;  // the topology and the trace
};

}  // namespace weir
