// What ops do to bytes: slices resolved to single replicas, the reads and writes of an op, and which bytes go
// where. The proof stands on these few functions; everything else in it is order and bookkeeping.
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

/// One op's use of an extent. Reads commute with reads and adds with adds; all else must be ordered.
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

/// The parts of a slice, made as they are asked for.
class Extents {
 public:
  /// The slice on each of its replicas, in order of replica; shares may be empty. The plan's structure is
  /// valid, and the plan outlives this.
  Extents(const Plan& plan, const Slice& slice, Dtype dtype);
  /// The slice, which lies on one replica, cut into so many shares.
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
  bool shares_;                // each is a share of the slice, not the whole
  std::span<const int> gpus_;  // the replica of each, if they lie on several
};

/// Whether bytes can go from one slice into the other: replica by replica, or between one replica and shares
/// (a copy between a host buffer and shards moves share i of the host slice). The slices are valid and of one
/// size.
bool movable(const Plan& plan, const Slice& from, const Slice& into);

/// Replaces `all` by which bytes go where; the slices are movable. Empty moves are left out.
void find_moves(const Plan& plan, const Slice& from, const Slice& into, Dtype dtype, std::vector<Move>& all);

/// Appends what the op reads and writes; empty extents are left out. A collective writes its slice on every
/// replica.
void append_accesses(const Plan& plan, const Op& op, std::vector<Access>& accesses);

}  // namespace weir
