// Tensors that CPU machines keep, so that ranks can add to them at their own pace: what is behind
// asynchronous training (BytePS, OSDI'20, Theorem 2).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "backends/real/memory/pages.h"
#include "core/plan/plan.h"

namespace weir::real {

/// What one machine keeps of the tensors of a plan: for each of its updates a slice, zeros at first. Each
/// rank has a group of its own, and all of these run the same plan, in which an update has the same number:
/// that makes a slice theirs in common.
class KeptTensors {
 public:
  /// Fails if the system has no memory for it.
  static Result<std::unique_ptr<KeptTensors>> make(const Plan& plan, MachineId self);
  KeptTensors(const KeptTensors&) = delete;
  KeptTensors& operator=(const KeptTensors&) = delete;

  /// Adds the bytes to the update's slice, and gives in them what that is then. Any thread: adds to a slice
  /// come one after the other, in whatever order.
  void add(const Op& update, std::span<std::byte> bytes);

 private:
  struct Part {
    std::mutex mutex;
    std::span<std::byte> bytes;
  };

  KeptTensors() = default;

  std::unique_ptr<Pages> pages_;  // null if there is nothing to keep
  std::map<OpId, Part> parts_;    // by update
};

}  // namespace weir::real
