// Real runs with their plans, to simulate them with many sets of values.
#pragma once

#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/calibrate/prediction.h"
#include "core/calibrate/real_runs.h"

namespace weir {

/// Runs of one kind differ only in their times and share a plan. For one thread.
struct PreparedRuns {
  /// `known` holds the values that benchmarks determined.
  static Result<PreparedRuns> make(std::vector<RealRun> runs, Values known);

  std::vector<RealRun> runs;
  Values known;
  std::vector<std::size_t> kind;                       // of each run
  std::vector<std::unique_ptr<PreparedRun>> prepared;  // by kind

  const Uses& uses(std::size_t run) const { return prepared[kind[run]]->uses(); }
  /// The predicted time of an iteration of this kind with these values: the logarithm of seconds.
  Result<double> log_time_of_kind(std::size_t kind_number, const Values& values) const;
};

}  // namespace weir
