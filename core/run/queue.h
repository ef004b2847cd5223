// Chooses which op starts next on one resource (a GPU, a summing CPU, a NIC), by the dispatch policy and the
// window. A pure state machine; every world uses it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/op.h"

namespace weir {

enum class Policy {
  kFifo,      // in the order in which ops could start
  kPriority,  // the most urgent first; ties in the order in which they could start
};

/// How a world dispatches.
struct Dispatch {
  Policy policy = Policy::kPriority;
  Bytes window;  // the most bytes that one NIC may have in flight
};

/// What an op counts in the window of its resource. A message counts its bytes. Other ops count 1, so that a
/// window of 0 serves one at a time. A hold counts 0, so that any number run at once.
Bytes charge(const Op& op);

/// The window limits the bytes in flight (the credit of ByteScheduler, SOSP'19 section 4.2). An op starts if
/// nothing is in flight or if it still fits. A window of 0 bytes serves one op at a time, unless ops have
/// size 0.
class Queue {
 public:
  Queue(Policy policy, Bytes window) : policy_(policy), window_(window) {}

  /// Adds an op that can start from now on. `now` must never decrease.
  void push(OpId op, std::int64_t priority, Bytes size, Instant now);
  /// The next op to start, charged to the window. None if the queue is empty or the op does not fit.
  std::optional<OpId> pop();
  /// Reports that a started op of this size is done.
  void release(Bytes size);

  /// Whether the order of pushes within a nanosecond ever decided which op starts first.
  bool tied() const { return tied_; }

  Bytes in_flight() const { return in_flight_; }
  std::size_t waiting() const { return heap_.size(); }

 private:
  struct Entry {
    std::int64_t key;  // priority, or 0 under kFifo
    std::uint64_t sequence;
    Bytes size;
    OpId op;
    Instant since;
  };
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.key != b.key ? a.key > b.key : a.sequence > b.sequence;
    }
  };

  Policy policy_;
  Bytes window_;
  Bytes in_flight_;
  std::size_t started_ = 0;  // ops in flight; bytes do not show empty ones
  std::uint64_t pushed_ = 0;
  bool tied_ = false;
  std::vector<Entry> heap_;
};

}  // namespace weir
