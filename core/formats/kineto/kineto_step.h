// One training iteration of a recording: which gradients its backward pass accumulates, in which order, and
// by which op of the forward pass each one's parameter was used first.
#pragma once

#include <optional>
#include <vector>

#include "core/base/dtype.h"
#include "core/formats/kineto/kineto_events.h"
#include "core/formats/remarks.h"

namespace weir::kineto {

struct Gradient {
  Instant done;   // on the CPU, when AccumulateGrad ends
  int layer = 0;  // in Iteration::layers
  std::vector<std::int64_t> shape;
  std::int64_t elements = 0;
  Dtype dtype = Dtype::kF32;
};

/// An outermost op of the forward pass that uses parameters.
struct ForwardOp {
  Instant begin;     // on the CPU
  std::string name;  // "Block_3.Linear_1" if modules were recorded, else "linear"
};

/// A value. Times are the CPU's.
struct Iteration {
  std::string name;  // "ProfilerStep#5"
  Span span;
  std::optional<Instant> next;      // where the next one begins, if it was recorded
  Instant backward;                 // where the backward pass begins
  std::vector<ForwardOp> layers;    // in the order of the forward pass
  std::vector<Gradient> gradients;  // in the order in which they are accumulated
  std::vector<Span> busy;           // outermost ops of the thread, ordered and apart
};

/// The iteration of that number; without one, the last one that another follows, or else the last. What it
/// lacks is told with the profiler's option that would have recorded it.
Result<Iteration> iteration_of(const Recording& recording, std::optional<std::int64_t> number);

}  // namespace weir::kineto
