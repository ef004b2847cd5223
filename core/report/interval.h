// Spans of time, and how long any of them lasts.
#pragma once

#include <vector>

#include "core/base/units.h"

namespace weir {

struct Interval {
  Instant begin;
  Instant end;
};

/// The length of their union. They may come in any order, and none begins before 0.
Duration covered(std::vector<Interval> intervals);

}  // namespace weir
