// What works on ops for a node: threads in host memory, GPUs in theirs.
#pragma once

#include <cstdint>

#include "core/plan/op.h"

namespace weir::real {

/// The owner of a node puts ops; what comes of each goes to the node's inbox: kDone, or kBroken. Ops outlive
/// their end.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  virtual void put(const Op& op, std::uint64_t round) = 0;
};

}  // namespace weir::real
