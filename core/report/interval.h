// Spans of time, and how much time they cover together.
#pragma once

#include <vector>

#include "core/base/units.h"

namespace weir {

struct Interval {
  Instant begin;
  Instant end;
};

/// The length of the union of the intervals. They may come in any order; none begins before 0.
Duration covered(std::vector<Interval> intervals);

}  // namespace weir
