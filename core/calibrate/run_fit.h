// Values of a topology and of the model from real runs: those with which simulation foretells the times of
// their iterations best, and which of them the runs tell.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/calibrate/misses.h"
#include "core/calibrate/prepared_runs.h"
#include "core/calibrate/real_runs.h"
#include "core/calibrate/run_search.h"
#include "core/cluster/topology.h"

namespace weir {

struct RunFit {
  std::vector<CalibratedValue> values;  // those that the runs tell
  std::vector<std::string> untold;      // paths that runs use and whose values they do not tell
  std::vector<std::string> missed;      // of these, those whose runs were foretold wrong
  std::size_t kinds = 0;                // of runs
  std::size_t parameters = 0;           // that they were to tell, some of several values each
};

/// Rates that have the same value in the topology and are of the same kind, as those of all NICs, are fitted
/// as one, unless runs are foretold wrong then and surely better with a group's apart. `known` values are
/// what benchmarks told: fits of links and messages start there, and all others stay.
///
/// What is told: a rate, or an efficiency, whose standard error is at most 5 %; a time (the latency of the
/// network, the overhead of messages) whose standard error is at most the time itself, or what stood there,
/// and changes no run by more than 2 %; what is three standard errors from what stood there; and fewer values
/// than there are kinds of runs. A value most of whose runs are foretold more than 10 % wrong is not told.
class RunFitter {
 public:
  /// Makes the plans of the runs, each kind of run once.
  static Result<RunFitter> make(const Topology& topology, std::vector<RealRun> runs, Values known);

  /// The number of runs that are equal but for their times, for those who split them: by run.
  const std::vector<std::size_t>& kinds() const { return runs_.kind; }

  /// What the experiments of those runs that use them say of the overhead of messages and the efficiency of
  /// all-reduces, the middle one; what experiments say by themselves if no run does.
  const Values& stated() const { return stated_; }

  /// Fits the runs of these numbers.
  Result<RunFit> fit(const std::vector<std::size_t>& numbers) const;

  /// What simulation says of the runs of these numbers, with these values.
  Result<std::vector<Predicted>> predict(const std::vector<std::size_t>& numbers, const Values& values) const;

 private:
  std::set<std::string> used_by(const std::vector<std::size_t>& numbers) const;
  RunFit told(const RunSearch& search, const std::set<std::size_t>& missed) const;
  CalibratedValue value_of(const std::string& path, const std::vector<std::size_t>& numbers) const;

  Topology topology_;
  PreparedRuns runs_;
  Values stated_;
};

}  // namespace weir
