#include "tests/core/plan/random_plan.h"

#include <array>

namespace weir::examples {
namespace {

constexpr std::int64_t kElements = 8;  // size of a buffer

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

Closure::Closure(const Plan& plan) : plan_(plan), behind_(4 * plan.ops().size()) {
  WEIR_CHECK(behind_.size() <= behind_.front().size(), behind_.size());
  const auto edge = [&](std::size_t before, std::size_t after) { behind_[before].set(after); };
  for (const bool next : {false, true}) {
    for (const Op& op : plan.ops()) {
      edge(at(op.id, Point::kSubmitted, next), at(op.id, Point::kCompleted, next));
      for (const Successor successor : plan.successors(op.id)) {
        if (next && successor.carried != 0) continue;
        edge(at(op.id, Point::kCompleted, next),
             at(successor.id(), Point::kSubmitted, next || successor.carried != 0));
      }
    }
    for (const MessageEnds& ends : plan.messages()) {
      edge(at(ends.send, Point::kSubmitted, next), at(ends.receive, Point::kCompleted, next));
      edge(at(ends.receive, Point::kSubmitted, next), at(ends.send, Point::kCompleted, next));
    }
  }
  for (const Op& op : plan.ops())
    edge(at(op.id, Point::kCompleted, false), at(op.id, Point::kSubmitted, true));
  for (std::size_t k = 0; k < behind_.size(); ++k) {
    for (auto& row : behind_) {
      if (row.test(k)) row |= behind_[k];
    }
  }
}

std::size_t Closure::at(OpId op, Point point, bool next) const {
  return 2 * (op.index() + (next ? plan_.ops().size() : 0)) + (point == Point::kCompleted ? 1 : 0);
}

bool Closure::ordered(OpId before, OpId after, bool next) const {
  const auto& later = behind_[at(before, Point::kCompleted, false)];
  const Op& op = plan_.op(after);
  if (!is_message(op.kind)) return later.test(at(after, Point::kSubmitted, next));
  const MessageEnds ends = plan_.messages()[op.message.index()];
  return later.test(at(ends.send, Point::kSubmitted, next)) ||
         later.test(at(ends.receive, Point::kSubmitted, next));
}

}  // namespace weir::examples
