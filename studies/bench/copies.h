// How fast gradients move from this host's GPUs to its memory and back.
#pragma once

#include <functional>
#include <vector>

#include "backends/real/meters/copy_meter.h"
#include "core/base/result.h"

namespace weir {

/// What one GPU achieves with parts of one size.
struct CopyRow {
  int device = 0;
  Bytes part;
  real::CopyRate rate;
  double share() const {
    return static_cast<double>(rate.parts.value()) / static_cast<double>(rate.plain.value());
  }
};

/// Measures the first `gpus` GPUs with parts of each size, `repetitions` times each, and calls `measured`
/// after each result.
Result<std::vector<CopyRow>> copy_rates(int gpus, const std::vector<Bytes>& parts, int repetitions,
                                        const std::function<void(const CopyRow& row)>& measured = {});

}  // namespace weir
