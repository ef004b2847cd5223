// Real runs whose plans are made, for those who simulate them with many sets of values.
#pragma once

#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/calibrate/prediction.h"
#include "core/calibrate/real_runs.h"

namespace weir {

/// Those of one kind differ in nothing but their times, and are planned once. Of one thread.
struct PreparedRuns {
  /// `known` is what benchmarks told.
  static Result<PreparedRuns> make(std::vector<RealRun> runs, Values known);

  std::vector<RealRun> runs;
  Values known;
  std::vector<std::size_t> kind;                       // of each run
  std::vector<std::unique_ptr<PreparedRun>> prepared;  // by kind

  const Uses& uses(std::size_t run) const { return prepared[kind[run]]->uses(); }
  /// What an iteration of this kind takes with these values, as the logarithm of seconds.
  Result<double> log_time_of_kind(std::size_t kind_number, const Values& values) const;
};

}  // namespace weir
