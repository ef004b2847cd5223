// Two records of one plan, side by side: a simulated run and a real one, or the runs of two versions. What is
// said of the first is measured against the second.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/compare/stage.h"
#include "core/report/report.h"

namespace weir {

/// A record with what it is a record of. References; all outlive what is made of it.
struct Recorded {
  const Plan& plan;
  const Cluster& cluster;
  const Workload& workload;
  const Record& record;
  int warm_up = 0;  // iterations that are not measured
};

/// (a - b) / b: how far the first is off the second. 0 if both are 0; none if b alone is.
std::optional<double> relative_error(double a, double b);
std::optional<double> relative_error(Duration a, Duration b);

/// One stage in one record. Means over the measured iterations.
struct StageTimes {
  Duration busy;      // in an iteration, that any op of the stage is under way on a machine; mean over the
                      // machines that have such ops
  Duration mean;      // of an op, from its start to its completion
  Duration queueing;  // of an op, from its submission to its start
};

struct StageDifference {
  Stage stage = Stage::kBackward;
  std::size_t ops = 0;
  StageTimes a;
  StageTimes b;
};

/// Of the ops of a class the relative errors of their mean durations.
struct Errors {
  std::size_t ops = 0;  // that have an error; those that take time in the first record alone have none
  double tenth = 0.0;   // percentile
  double median = 0.0;
  double ninetieth = 0.0;
  double worst = 0.0;  // the largest, with its sign
};

/// Ops of one kind on machines of one group; messages also by the group that they go to.
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
  std::vector<StageDifference> stages;   // those that have ops, in the order of Stage
  std::vector<ClassDifference> classes;  // by kind, then by name
  std::vector<OpDifference> ops;         // whose durations differ most, the most first; ties by id
};

/// Both are of equal plans, on clusters that differ in rates and latencies at most; they may have different
/// numbers of iterations. At most `most` ops are listed; those that do not differ are not.
Difference difference(const Recorded& a, const Recorded& b, std::size_t most);

}  // namespace weir
