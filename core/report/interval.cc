#include "core/report/interval.h"

#include <algorithm>

namespace weir {

Duration covered(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  Duration total;
  Instant seen;
  for (const Interval& interval : intervals) {
    const Instant begin = std::max(interval.begin, seen);
    if (interval.end <= begin) continue;
    total += interval.end - begin;
    seen = interval.end;
  }
  return total;
}

}  // namespace weir
