// How fast processes of this host sum gradients among them, beside what as many processes move that do
// nothing else.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "studies/real/bench_job.h"

namespace weir {

/// Of one size of gradients.
struct CollectiveTimes {
  Duration time;             // of the middle iteration
  BytesPerSecond algorithm;  // gradients over it
  BytesPerSecond bus;        // what the busiest machine sends or receives over it
  BytesPerSecond moved;      // what all messages have over it
  BytesPerSecond plain;      // what as many processes moved that did nothing else
  std::vector<Duration> all;
  std::string settings;
  double share() const { return static_cast<double>(moved.value()) / static_cast<double>(plain.value()); }
};

/// Runs the job, and plain transfers after it.
Result<CollectiveTimes> measure_collective(const BenchJob& job);

}  // namespace weir
