// One training iteration of a recording: which gradients its backward pass accumulates, in which order, and
// which op of the forward pass used the parameter of each gradient first.
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
  std::string name;  // "Block_3.Linear_1" if modules were recorded, otherwise "linear"
};

/// A value. All times are of the CPU.
struct Iteration {
  std::string name;  // "ProfilerStep#5"
  Span span;
  std::optional<Instant> next;      // when the next one begins, if it was recorded
  Instant backward;                 // when the backward pass begins
  std::vector<ForwardOp> layers;    // in the order of the forward pass
  std::vector<Gradient> gradients;  // in the order in which they are accumulated
  std::vector<Span> busy;           // outermost ops of the thread, ordered and disjoint
  std::size_t undefined = 0;        // gradients left out: AccumulateGrad had nothing to add
  std::size_t empty = 0;            // gradients left out: of tensors without elements
};

/// The iteration with this number. Without a number: the last one that another follows, or else the last. If
/// something is missing, the error names the profiler's option that records it.
Result<Iteration> iteration_of(const Recording& recording, std::optional<std::int64_t> number);

}  // namespace weir::kineto
