#include "tests/core/plan/random_plan.h"

#include <array>

namespace weir::examples {
namespace {

constexpr std::int64_t kElements = 8;  // of a buffer

Slice random_slice(Random& random, BufferId buffer, std::int64_t elements) {
  return {buffer, 0, Bytes(4 * random.between(0, kElements - elements)), Bytes(4 * elements)};
}

}  // namespace

Plan random_plan(Random random, std::size_t ops, int density) {
  PlanBuilder builder("random", 2);
  const auto chance = [&](int percent) { return random.between(0, 99) < percent; };
  std::array<std::array<BufferId, 2>, 2> buffers;
  for (std::size_t m = 0; m < 2; ++m) {
    for (BufferId& buffer : buffers[m]) {
      buffer = builder.add(
          {.machine = MachineId(m), .role = Buffer::Role::kScratch, .size = Bytes(4 * kElements)});
    }
  }
  std::array<std::vector<OpId>, 2> rows;
  for (std::size_t i = 0; i < ops; ++i) {
    const bool message = chance(33);
    const MessageId id = message ? builder.add_message() : MessageId();
    const std::int64_t elements = random.between(1, kElements / 2);
    for (std::size_t m = 0; m < 2; ++m) {
      const bool sends = m == i % 2;
      const std::size_t source = chance(50) ? 1 : 0;
      Op op;
      op.machine = MachineId(m);
      op.kind = message      ? (sends ? OpKind::kSend : OpKind::kReceive)
                : chance(50) ? OpKind::kSum
                             : OpKind::kCopy;
      if (message) op.peer = MachineId(1 - m);
      op.message = id;
      if (op.kind != OpKind::kReceive) op.from = random_slice(random, buffers[m][source], elements);
      if (op.kind != OpKind::kSend) op.into = random_slice(random, buffers[m][1 - source], elements);
      const OpId added = builder.add(op);
      for (const OpId before : rows[m]) {
        if (chance(density)) builder.order(before, added);
        if (chance(density / 2)) builder.carry(added, before);
        if (chance(density / 4)) builder.carry(before, added);
      }
      rows[m].push_back(added);
    }
  }
  return std::move(builder).build();
}

std::vector<std::vector<bool>> closure(const Order& order) {
  const std::size_t n = order.events();
  std::vector<std::vector<bool>> before(2 * n, std::vector<bool>(2 * n, false));
  for (std::size_t i = 0; i < n; ++i) {
    before[i][n + i] = true;
    for (const Arc arc : order.after(static_cast<std::uint32_t>(i))) {
      if (arc.carried == 0) before[n + i][n + arc.position] = true;
      before[i][arc.position + (arc.carried != 0 ? n : 0)] = true;
    }
  }
  for (std::size_t k = 0; k < 2 * n; ++k) {
    for (std::size_t i = 0; i < 2 * n; ++i) {
      for (std::size_t j = 0; before[i][k] && j < 2 * n; ++j) {
        if (before[k][j]) before[i][j] = true;
      }
    }
  }
  return before;
}

}  // namespace weir::examples
