// Simulates a real run with values of the topology and the model other than those it was planned with.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/calibrate/real_runs.h"
#include "core/calibrate/uses.h"
#include "core/cluster/cluster.h"
#include "core/workload/workload.h"

namespace weir {

/// Values by path, as in CalibratedValue.
using Values = std::map<std::string, Value>;

/// A run with its plan, which is made once: it is the real run's plan, whatever the values. Neither copies
/// nor moves.
class PreparedRun {
 public:
  static Result<std::unique_ptr<PreparedRun>> make(const RealRun& run);
  PreparedRun(const PreparedRun&) = delete;
  PreparedRun& operator=(const PreparedRun&) = delete;

  const Uses& uses() const { return uses_; }

  /// The time of an iteration with these values, by the fluid engine. The topology may lack some of them.
  Result<Duration> predict(const Values& values);

 private:
  explicit PreparedRun(const RealRun& run);

  std::shared_ptr<const Experiment> experiment_;
  Contender contender_;
  Cluster cluster_;
  Workload workload_;
  Plan plan_;
  Uses uses_;
  /// The plan for the last all-reduce efficiency that differed from the run's.
  std::optional<std::pair<double, Plan>> again_;
};

}  // namespace weir
