// What ops do to bytes: slices resolved to single replicas, the reads and writes of an op, and which bytes a
// move takes where. The proof relies on these few functions; the rest of it is about order and bookkeeping.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/plan/plan.h"
#include "core/workload/workload.h"

namespace weir {

/// A run of bytes of one replica of a buffer.
struct Extent {
  BufferId buffer;
  int replica = 0;
  Range range;
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// One op's use of an extent. Reads commute with reads, and adds with adds. All other pairs must be ordered.
struct Access {
  enum class Kind : std::uint8_t { kRead, kAdd, kWrite };
  Kind kind = Kind::kRead;
  Extent extent;
};

inline bool commute(Access::Kind a, Access::Kind b) { return a == b && a != Access::Kind::kWrite; }

/// Bytes that go from one extent into another of the same size.
struct Move {
  Extent from;
  Extent into;
};

/// The parts of a slice, each computed when it is asked for.
class Extents {
 public:
  /// The slice on each of its replicas, in order of replica; shares may be empty. The plan's structure must
  /// be valid, and the plan must outlive this object.
  Extents(const Plan& plan, const Slice& slice, Dtype dtype);
  /// The slice, which lies on one replica, cut into `count` shares.
  Extents(const Slice& slice, Dtype dtype, int count);

  int size() const { return count_; }
  Extent operator[](int i) const;

  struct Iterator {
    const Extents* extents;
    int index;
    Extent operator*() const { return (*extents)[index]; }
    Iterator& operator++() { return ++index, *this; }
    friend bool operator==(const Iterator&, const Iterator&) = default;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, count_}; }

 private:
  Slice slice_;
  Dtype dtype_;
  int count_;
  bool shares_;                // whether each part is a share of the slice, not the whole
  std::span<const int> gpus_;  // the replica of each part, if they lie on several
};

/// Whether bytes can go from one slice into the other: replica by replica, or between one replica and shares.
/// (A copy between a host buffer and shards moves share i of the host slice.) The slices must be valid and
/// equally large.
bool movable(const Plan& plan, const Slice& from, const Slice& into);

/// Fills `all` with the moves that take bytes from one slice into the other. The slices must be movable.
/// Empty moves are left out.
void find_moves(const Plan& plan, const Slice& from, const Slice& into, Dtype dtype, std::vector<Move>& all);

/// Appends what the op reads and writes, without empty extents. A collective writes its slice on every
/// replica.
void append_accesses(const Plan& plan, const Op& op, std::vector<Access>& accesses);

}  // namespace weir
