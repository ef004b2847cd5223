#include "core/strategies/blocks/slots.h"

namespace weir {

Slots::Slots(PlanBuilder& builder, BufferId buffer, std::size_t count, Bytes size) {
  for (std::size_t i = 0; i < count; ++i)
    slots_.push_back({builder.reserve(buffer, size, Dtype::kF64), {}, {}});
}

std::size_t Slots::add(PlanBuilder& builder, BufferId buffer, Bytes size) {
  slots_.push_back({builder.reserve(buffer, size, Dtype::kF64), {}, {}});
  return slots_.size() - 1;
}

Slots Slots::fresh() const {
  Slots slots;
  for (const Slot& slot : slots_) slots.slots_.push_back({slot.slice, {}, {}});
  return slots;
}

Slice Slots::slice(std::size_t slot, Bytes size) const {
  Slice slice = slots_[slot].slice;
  WEIR_CHECK(size <= slice.size, size.count(), slice.size.count());
  slice.size = size;
  return slice;
}

void Slots::use(PlanBuilder& builder, std::size_t slot, OpId write, OpId read) {
  Slot& used = slots_[slot];
  builder.order(used.last_read, write);
  builder.order(write, read);
  if (!used.first_write.valid()) used.first_write = write;
  used.last_read = read;
}

void Slots::close(PlanBuilder& builder) const {
  for (const Slot& slot : slots_) {
    if (slot.first_write.valid()) builder.carry(slot.last_read, slot.first_write);
  }
}

}  // namespace weir
