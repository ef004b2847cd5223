// Memory that a plan uses again and again: the edges that keep new bytes out of a slot until its last bytes
// have been read.
#pragma once

#include <vector>

#include "core/plan/plan.h"

namespace weir {

/// Several slots in one buffer. Every use of a slot waits for the one before it in the order of use(). The
/// first use in an iteration waits for the last use in the iteration before.
class Slots {
 public:
  /// Reserves the slots in the buffer, for slices of any dtype.
  Slots(PlanBuilder& builder, BufferId buffer, std::size_t count, Bytes size);

  /// Reserves one more slot of this size and returns its number.
  std::size_t add(PlanBuilder& builder, BufferId buffer, Bytes size);

  /// The same slots, not yet used: for another replica of the buffer.
  Slots fresh() const;

  std::size_t count() const { return slots_.size(); }
  /// The beginning of the slot.
  Slice slice(std::size_t slot, Bytes size) const;
  /// `write` fills the slot. `read` waits for it, and is the last op that needs the slot.
  void use(PlanBuilder& builder, std::size_t slot, OpId write, OpId read);
  /// Adds the edges into the next iteration. Call it once, after everything else.
  void close(PlanBuilder& builder) const;

 private:
  Slots() = default;

  struct Slot {
    Slice slice;
    OpId first_write;
    OpId last_read;
  };
  std::vector<Slot> slots_;
};

}  // namespace weir
