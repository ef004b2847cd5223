// Random plans without purpose but with a valid structure and no cycle. Their order is also computed in a
// slow and simple way, to check the fast proof.
#pragma once

#include <bitset>
#include <vector>

#include "core/base/random.h"
#include "core/plan/plan.h"

namespace weir::examples {

/// Two machines with two small host buffers each; copies, sums and messages between random slices. A third of
/// the ops are messages. `density` is the chance in percent of an edge between two ops. The chance of a
/// carried edge is half of it.
Plan random_plan(Random random, std::size_t ops, int density);

/// The order that the contract of ports guarantees, and everything that follows from it. Each op is submitted
/// and completes, in this iteration and in the next.
class Closure {
 public:
  explicit Closure(const Plan& plan);

  /// Whether `before` has always completed when `after` begins, in this iteration or (`next`) in the next
  /// one. A send or receive begins when both are submitted.
  bool ordered(OpId before, OpId after, bool next) const;

 private:
  enum class Point { kSubmitted, kCompleted };
  std::size_t at(OpId op, Point point, bool next) const;

  const Plan& plan_;
  std::vector<std::bitset<256>> behind_;  // for each point, all points that come later
};

}  // namespace weir::examples
