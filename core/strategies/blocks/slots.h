// Memory that is used again and again in a plan: the edges that keep a slot's next bytes out until the last
// ones have been read.
#pragma once

#include <vector>

#include "core/plan/plan.h"

namespace weir {

/// Some slots in one buffer. Every use of a slot waits for the one before it in the order of
/// use(); the first use of an iteration waits for the last one of the iteration before.
class Slots {
 public:
  /// Reserves the slots in the buffer, for slices of any dtype.
  Slots(PlanBuilder& builder, BufferId buffer, std::size_t count, Bytes size);

  /// Reserves one more of this size; its number.
  std::size_t add(PlanBuilder& builder, BufferId buffer, Bytes size);

  /// The same slots, not used yet: for another replica of the buffer.
  Slots fresh() const;

  std::size_t count() const { return slots_.size(); }
  /// The beginning of the slot.
  Slice slice(std::size_t slot, Bytes size) const;
  /// `write` fills the slot and `read`, which waits for it, is the last to need it.
  void use(PlanBuilder& builder, std::size_t slot, OpId write, OpId read);
  /// Adds the edges into the next iteration; to be called once, last.
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
