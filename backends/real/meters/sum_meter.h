// Measures how fast this machine sums gradients, and the limit that its memory sets for the same traffic.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "backends/real/memory/pages.h"
#include "backends/real/meters/team.h"
#include "core/base/dtype.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

/// Medians of one measurement. Both rates count the bytes of the sources.
struct SumRate {
  Dtype dtype = Dtype::kF32;
  int sources = 0;
  int threads = 0;
  BytesPerSecond rate;
  BytesPerSecond limit;  // of a plain loop that reads and writes the same bytes

  /// rate / limit; may exceed 1 if the plain loop is slower.
  double share() const { return static_cast<double>(rate.value()) / static_cast<double>(limit.value()); }
};

/// The memory of the measured sums, and the clock. A resource for one owner thread, which takes part in the
/// measurements.
class SumMeter {
 public:
  static constexpr int kMostSources = 8;

  struct Settings {
    Bytes size;               // of each operand; a multiple of 64 bytes
    int sources;              // the largest number to be measured, up to kMostSources
    std::optional<int> numa;  // the node of memory and threads
  };

  /// Fails if the machine lacks the memory, or has no such NUMA node.
  static Result<std::unique_ptr<SumMeter>> make(const Settings& settings);
  SumMeter(const SumMeter&) = delete;
  SumMeter& operator=(const SumMeter&) = delete;

  /// Alternates between the sum into += sources by the team, with equal parts of the bytes, and the plain
  /// loop. Each runs once unmeasured, then `repeats` times, at least once.
  SumRate measure(Dtype dtype, int sources, Team& team, int repetitions);

  /// The memory of all operands, and how much of it is in huge pages.
  Bytes memory() const { return pages_->size(); }
  Bytes huge() const { return pages_->huge(); }

 private:
  SumMeter(Bytes size, std::unique_ptr<Pages> pages);
  std::byte* operand(int index) const;

  Bytes size_;
  std::unique_ptr<Pages> pages_;  // two targets, for the sums and for the loops, and the sources
};

}  // namespace weir::real
