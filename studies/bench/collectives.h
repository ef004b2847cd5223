// How fast processes of this host sum gradients together, compared with as many processes that only move
// bytes.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "studies/real/bench_job.h"

namespace weir {

/// The result for one size of gradients.
struct CollectiveTimes {
  Duration time;             // of the median iteration
  BytesPerSecond algorithm;  // gradients / time
  BytesPerSecond bus;        // what the busiest machine sends or receives / time
  BytesPerSecond moved;      // bytes of all messages / time
  BytesPerSecond plain;      // rate of as many processes that only move bytes
  std::vector<Duration> all;
  std::string settings;
  double share() const { return static_cast<double>(moved.value()) / static_cast<double>(plain.value()); }
};

/// Runs the job, then plain transfers.
Result<CollectiveTimes> measure_collective(const BenchJob& job);

}  // namespace weir
