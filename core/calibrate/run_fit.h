// Fits values of a topology and of the model to real runs: finds those with which simulation predicts the
// iteration times best, and decides which of them the runs determine.
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
  std::vector<CalibratedValue> values;    // those that the runs determine
  std::vector<std::string> undetermined;  // paths that runs use without determining their values
  std::vector<std::string> missed;        // of these, those whose runs were predicted wrong
  std::vector<std::string> beyond;        // paths of values at the end of their range; better ones lie beyond
  std::size_t kinds = 0;                  // of runs
  std::size_t parameters = 0;             // that were searched for; some stand for several values
};

/// Rates of one kind with the same value in the topology, such as those of all NICs, are fitted as one value.
/// If runs are then predicted wrong, and surely better with one group's rates apart, those become a value of
/// their own. `known` holds the values that benchmarks determined: fits of links and messages start there,
/// and all others stay.
///
/// A value counts as determined by these rules:
/// - A rate or an efficiency has a standard error of at most 5 %.
/// - A time (latency of the network, overhead of messages) has a standard error of at most the time itself or
///   the stated one, and this error changes no run by more than 2 %.
/// - A value that is three standard errors from the stated one is always determined.
/// - There are fewer values than kinds of runs.
/// - A value is not determined if most of its runs are predicted more than 10 % wrong.
class RunFitter {
 public:
  /// Plans the runs, each kind of run once.
  static Result<RunFitter> make(const Topology& topology, std::vector<RealRun> runs, Values known);

  /// For each run the number of its kind, for callers that split them. Runs of one kind differ only in time.
  const std::vector<std::size_t>& kinds() const { return runs_.kind; }

  /// The overhead of messages and the efficiency of all-reduces that the runs' experiments state: the median
  /// over the kinds of runs that use them, or the default if none does.
  const Values& stated() const { return stated_; }

  /// Fits the runs with these numbers.
  Result<RunFit> fit(const std::vector<std::size_t>& numbers) const;

  /// What simulation predicts for the runs with these numbers, with these values.
  Result<std::vector<Predicted>> predict(const std::vector<std::size_t>& numbers, const Values& values) const;

 private:
  std::set<std::string> used_by(const std::vector<std::size_t>& numbers) const;
  RunFit determined(const RunSearch& search, const std::set<std::size_t>& missed) const;
  CalibratedValue value_of(const std::string& path, const std::vector<std::size_t>& numbers) const;

  Topology topology_;
  PreparedRuns runs_;
  Values stated_;
};

}  // namespace weir
