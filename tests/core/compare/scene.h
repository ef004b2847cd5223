// A plan whose records are small enough to be written by hand, so that the results of comparisons are known.
#pragma once

#include "core/cluster/cluster.h"
#include "core/compare/difference.h"
#include "core/workload/workload.h"

namespace weir {

/// Two machines with one GPU each. The first computes backward and then sends two messages, x and y. The
/// second receives both, sums each, joins the two sums, and then computes forward.
///
///     backward -> x ~> receive x -> sum x \ .
///             \-> y ~> receive y -> sum y -> join -> forward
struct CompareScene {
  CompareScene();

  /// Two iterations of 1000 ns. Backward takes 100 ns, each sum 50 ns, forward 100 ns. Each message takes 200
  /// ns from the time its sender is charged. Ops are submitted as soon as they are ready.
  Record record() const;
  Recorded recorded(const Record& record, int warm_up = 0) const {
    return {plan, cluster, workload, record, warm_up};
  }

  Cluster cluster;
  Trace trace;
  Workload workload;
  OpId backward, send_x, send_y;
  OpId receive_x, receive_y, sum_x, sum_y, join, forward;
  Plan plan;

 private:
  Plan make();
};

/// Delays all times of the op in this iteration.
void delay(Record& record, OpId op, int iteration, Duration duration);

}  // namespace weir
