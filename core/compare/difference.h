// Two records of one plan, side by side: a simulated run and a real one, or runs of two versions. Differences
// describe the first relative to the second.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/compare/stage.h"
#include "core/report/report.h"

namespace weir {

/// A record, and what was recorded. All are references; they must outlive everything made from this.
struct Recorded {
  const Plan& plan;
  const Cluster& cluster;
  const Workload& workload;
  const Record& record;
  int warm_up = 0;  // first iterations, which are not measured
};

/// (a - b) / b: how far the first is from the second. 0 if both are 0; none if only b is 0.
std::optional<double> relative_error(double a, double b);
std::optional<double> relative_error(Duration a, Duration b);

/// One stage in one record. All times are means over the measured iterations.
struct StageTimes {
  Duration busy;      // how long any op of the stage is under way on a machine in an iteration; mean over the
                      // machines with such ops
  Duration mean;      // of an op: from its start to its completion
  Duration queueing;  // of an op: from its submission to its start
};

struct StageDifference {
  Stage stage = Stage::kBackward;
  std::size_t ops = 0;
  StageTimes a;
  StageTimes b;
};

/// Relative errors of the mean durations of a class's ops.
struct Errors {
  std::size_t ops = 0;  // ops with a relative error; ops that only take time in the first record have none
  double tenth = 0.0;   // percentile
  double median = 0.0;
  double ninetieth = 0.0;
  double worst = 0.0;  // the largest in size, with its sign
};

/// Ops of one kind on machines of one group; for messages also by the peer's group.
struct ClassDifference {
  std::string name;  // "send gpu to cpu"
  std::size_t ops = 0;
  Duration a;  // mean duration
  Duration b;
  Errors errors;
};

struct OpDifference {
  OpId op;
  Duration a;  // mean duration
  Duration b;
};

struct Difference {
  Report a;
  Report b;
  std::vector<StageDifference> stages;   // stages that have ops, in the order of Stage
  std::vector<ClassDifference> classes;  // by kind, then by name
  std::vector<OpDifference> ops;  // ops whose durations differ most, the largest difference first; ties by id
};

/// Both records must be of equal plans, on clusters that differ at most in rates and latencies. Their numbers
/// of iterations may differ. Lists at most `most` ops, only those that differ.
Difference difference(const Recorded& a, const Recorded& b, std::size_t most);

}  // namespace weir
