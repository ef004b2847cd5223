// Measures how fast a node copies between a GPU's memory and the host's, in parts and both ways at once.
// Measures plain copies of pinned memory beside it.
#pragma once

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

struct CopySettings {
  int device = 0;
  Bytes part = Bytes(4'000'000);
  Bytes memory = Bytes(256 << 20);  // in each direction, copied repeatedly
  int repetitions = 8;
};

/// Rates in each direction while the other one is equally busy.
struct CopyRate {
  BytesPerSecond parts;  // by a node: each part an op of its plan
  BytesPerSecond plain;  // by two streams, all memory at once
};

/// Fails if there is no such GPU.
Result<CopyRate> measure_copies(const CopySettings& settings);

}  // namespace weir::real
