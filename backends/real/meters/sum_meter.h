// Measures how fast this machine sums gradients, beside what its memory allows for the same traffic.
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
  BytesPerSecond limit;  // of a plain loop that reads and writes as many bytes of each operand

  /// rate / limit; may exceed 1 where the plain loop is the slower one.
  double share() const { return static_cast<double>(rate.value()) / static_cast<double>(limit.value()); }
};

/// The memory of the sums to be measured, and the clock. A resource for one owner thread, which takes part in
/// the measurements.
class SumMeter {
 public:
  static constexpr int kMostSources = 8;

  struct Settings {
    Bytes size;               // of each operand; a multiple of 64 bytes
    int sources;              // the most that will be measured, up to kMostSources
    std::optional<int> numa;  // where memory and threads belong
  };

  /// An error if the machine has not the memory, or no such NUMA node.
  static Result<std::unique_ptr<SumMeter>> make(const Settings& settings);
  SumMeter(const SumMeter&) = delete;
  SumMeter& operator=(const SumMeter&) = delete;

  /// Sums into += sources by the team, each member an equal part of the bytes, and in turn runs the plain
  /// loop, as often as told (at least once each, after once unmeasured).
  SumRate measure(Dtype dtype, int sources, Team& team, int repetitions);

  /// The memory of all operands together, and how much of it lies in huge pages.
  Bytes memory() const { return pages_->size(); }
  Bytes huge() const { return pages_->huge(); }

 private:
  SumMeter(Bytes size, std::unique_ptr<Pages> pages);
  std::byte* operand(int index) const;

  Bytes size_;
  std::unique_ptr<Pages> pages_;  // two targets, for the sums and for the loops, and the sources
};

}  // namespace weir::real
