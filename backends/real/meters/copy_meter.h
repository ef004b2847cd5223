// Measures how fast a node copies between a GPU's memory and the host's, in parts and both ways at once,
// beside plain copies of pinned memory in the same time.
#pragma once

#include "core/base/result.h"
#include "core/base/units.h"

namespace weir::real {

struct CopySettings {
  int device = 0;
  Bytes part = Bytes(4'000'000);
  Bytes memory = Bytes(256 << 20);  // in each direction, again and again
  int repetitions = 8;
};

/// In each direction while the other was as busy.
struct CopyRate {
  BytesPerSecond parts;  // by a node: each part an op of its plan
  BytesPerSecond plain;  // by two streams, all memory at once
};

/// Fails where there is no such GPU.
Result<CopyRate> measure_copies(const CopySettings& settings);

}  // namespace weir::real
