// Plans with no sense but a valid structure and no cycle, and their order worked out the slow and simple way:
// what the quick proof is compared with.
#pragma once

#include <bitset>
#include <vector>

#include "core/base/random.h"
#include "core/plan/plan.h"

namespace weir::examples {

/// Two machines with two small host buffers each; copies, sums and messages between random slices. `density`
/// is the chance in percent of an edge between two ops, and half of it that of a carried one; a third of the
/// ops are messages.
Plan random_plan(Random random, std::size_t ops, int density);

/// What the contract of ports says about order, and all that follows. Each op is submitted and completes, in
/// this iteration and in the next.
class Closure {
 public:
  explicit Closure(const Plan& plan);

  /// Whether `before` has always completed when `after`, or `after` of the next iteration, begins. An end of
  /// a message begins when both are submitted.
  bool ordered(OpId before, OpId after, bool next) const;

 private:
  enum class Point { kSubmitted, kCompleted };
  std::size_t at(OpId op, Point point, bool next) const;

  const Plan& plan_;
  std::vector<std::bitset<256>> behind_;  // by point: all points that come later
};

}  // namespace weir::examples
