// Chooses which of the ops that could start on one resource (a GPU, a summing CPU, a NIC) does start: the
// dispatch policy and the window. A pure state machine; every world uses it.
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
  Bytes window;  // bytes that one NIC may have under way
};

/// What an op counts in its resource's window: a message its bytes; another op one, so that a window of none
/// serves one at a time; a hold nothing, so that any number pass at once.
Bytes charge(const Op& op);

/// The window bounds the bytes that are under way at once (the credit of ByteScheduler, SOSP'19 section 4.2):
/// an op starts while nothing is under way, or if it still fits. A window of 0 bytes serves one op at a time,
/// if ops have a size.
class Queue {
 public:
  Queue(Policy policy, Bytes window) : policy_(policy), window_(window) {}

  /// The op can start from now on. Time never goes back.
  void push(OpId op, std::int64_t priority, Bytes size, Instant now);
  /// The next op to start, charged to the window; none if the window or the queue forbids it.
  std::optional<OpId> pop();
  /// An op of this size that had started is done.
  void release(Bytes size);

  /// Whether the order of pushes within a nanosecond has ever told which op starts first.
  bool tied() const { return tied_; }

  Bytes under_way() const { return under_way_; }
  std::size_t waiting() const { return heap_.size(); }

 private:
  struct Entry {
    std::int64_t key;  // priority, or 0 under first come
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
  Bytes under_way_;
  std::size_t started_ = 0;  // ops under way; bytes alone do not tell for empty ones
  std::uint64_t pushed_ = 0;
  bool tied_ = false;
  std::vector<Entry> heap_;
};

}  // namespace weir
