// Plans of any size in the two shapes that strategies use: sums on one machine, and rings. They test
// properties of the proof and its speed.
#pragma once

#include "core/plan/plan.h"

namespace weir::examples {

struct Size {
  std::size_t machines = 4;  // with one GPU each
  std::size_t layers = 3;
  std::size_t parts = 2;  // of each layer
  std::size_t slots = 2;  // landing slots of each sender (server)
  bool chained = true;    // sums into one part run one after the other (server)
  bool implied = false;   // leave out edges that follow from rendezvous
};

/// Every machine sends each part to one machine without GPUs, which sums it and sends the sum back. 5n ops
/// for each part of n machines.
PlanBuilder large_server(const Size& size);

/// Each part is cut into one chunk for each machine. Chunks travel around the ring twice: first to be summed,
/// then as sums. 5n(n - 1) ops for each part.
PlanBuilder large_ring(const Size& size);

/// One machine with a GPU and one without. The second receives tensors of different sizes into four slots in
/// turn, copies each out of its slot and sends it back. 5 ops for each tensor.
PlanBuilder mixed_sizes(std::size_t tensors);

}  // namespace weir::examples
