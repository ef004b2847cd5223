// Tensors that CPU machines keep, to which ranks add at their own pace. Asynchronous training is built on
// this (BytePS, OSDI'20, Theorem 2).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "backends/real/memory/pages.h"
#include "core/plan/plan.h"

namespace weir::real {

/// One machine's share of a plan's kept tensors: a slice for each update, zeros at first. Each rank has its
/// own group, and all these groups run the same plan. An update has the same number in each, so the ranks
/// share its slice.
class KeptTensors {
 public:
  /// Fails if the system has too little memory.
  static Result<std::unique_ptr<KeptTensors>> make(const Plan& plan, MachineId self);
  KeptTensors(const KeptTensors&) = delete;
  KeptTensors& operator=(const KeptTensors&) = delete;

  /// Adds the bytes to the update's slice, and overwrites them with the result. Any thread. Additions to a
  /// slice happen one after the other, in any order.
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
