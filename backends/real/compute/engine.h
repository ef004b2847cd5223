// What executes ops for a node: threads for ops in host memory, GPUs for ops in GPU memory.
#pragma once

#include <cstdint>

#include "core/plan/op.h"

namespace weir::real {

/// The owner of a node puts ops. When an op ends, the engine puts kDone or kBroken into the node's inbox. Ops
/// must live until then.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  virtual void put(const Op& op, std::uint64_t round) = 0;
};

}  // namespace weir::real
