// A plan small enough that its records can be written by hand, and what comparisons of them must say.
#pragma once

#include "core/cluster/cluster.h"
#include "core/compare/difference.h"
#include "core/workload/workload.h"

namespace weir {

/// Two machines of one GPU. The first computes backward and then sends two messages, x and y; the second
/// receives both, sums what came with each, and computes forward when a join has both sums.
///
///     backward -> x ~> receive x -> sum x \ .
///             \-> y ~> receive y -> sum y -> join -> forward
struct CompareScene {
  CompareScene();

  /// Two iterations of 1000 ns. Backward takes 100, each message 200 from when its sender is charged, each
  /// sum 50, forward 100; ops are submitted as soon as they are ready.
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

/// Moves the op's times in the iteration by so much.
void delay(Record& record, OpId op, int iteration, Duration duration);

}  // namespace weir
