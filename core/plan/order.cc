#include "core/plan/order.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/plan/print.h"

namespace weir {
namespace {

// The op that stands for the event: a message is represented by its send, any other op by itself.
OpId event(const Plan& plan, const Op& op) {
  switch (meets(op.kind)) {
    case Meets::kNobody:
    case Meets::kMachines:
      return op.id;
    case Meets::kOtherEnd:
      return plan.messages()[op.message.index()].send;
  }
  return op.id;
}

// The ops of an event: one op, or both ends of a message.
std::span<const OpId> ends(const Plan& plan, OpId event, std::array<OpId, 2>& room) {
  room[0] = event;
  if (!is_message(plan.op(event).kind)) return std::span(room).first(1);
  room[1] = plan.messages()[plan.op(event).message.index()].receive;
  return room;
}

// Calls visit(op, carried) for every op that, by one edge, cannot begin before this one has completed.
template <class Visit>
void for_each_after(const Plan& plan, OpId op, const Visit& visit) {
  for (const Successor successor : plan.successors(op)) {
    const Op& after = plan.op(successor.id());
    switch (meets(after.kind)) {
      case Meets::kNobody:
      case Meets::kOtherEnd:
        visit(after.id, successor.carried);
        break;
      case Meets::kMachines:
        for (const OpId other : plan.all_reduce(after.all_reduce)) visit(other, successor.carried);
        break;
    }
  }
}

// One edge of a cycle.
struct Wait {
  OpId before;
  OpId after;
};

// A cycle among the events that still wait: walks from each event to the first one that it waits for.
std::vector<Wait> cycle(const Plan& plan, const std::vector<std::uint32_t>& waits) {
  std::vector<Wait> into(plan.ops().size());  // by event: why it waits
  OpId at;
  for (const Op& op : plan.ops()) {
    const OpId source = event(plan, op);
    if (waits[source.index()] == 0) continue;
    for_each_after(plan, op.id, [&](OpId after, std::uint32_t carried) {
      if (carried != 0) return;
      Wait& wait = into[event(plan, plan.op(after)).index()];
      if (!wait.before.valid()) wait = {op.id, after};
    });
    at = source;
  }
  std::vector<bool> seen(plan.ops().size(), false);
  const auto back = [&](OpId from) { return event(plan, plan.op(into[from.index()].before)); };
  while (!seen[at.index()]) {
    seen[at.index()] = true;
    at = back(at);
  }
  std::vector<Wait> around;
  for (OpId next = at; around.empty() || next != at; next = back(next)) around.push_back(into[next.index()]);
  return around;
}

Error deadlock(const Plan& plan, const std::vector<Wait>& around) {
  std::string out = "deadlock: ops wait for one another:";
  const std::size_t shown = std::min<std::size_t>(around.size(), 20);
  for (std::size_t i = 0; i < shown; ++i) {
    const Wait& wait = around[i];
    const Op& before = plan.op(wait.before);
    const OpId next = around[(i + 1) % around.size()].after;
    out += fmt::format("\n  {} waits for {}", words(plan.op(wait.after)), words(before));
    if (next == wait.before) continue;
    out += fmt::format("\n  {} waits for {}, the other end of message {}", words(before),
                       words(plan.op(next)), before.message);
  }
  if (shown < around.size()) out += fmt::format("\n  (and {} more)", around.size() - shown);
  return {out};
}

}  // namespace

Result<Order> Order::of(const Plan& plan) {
  const std::size_t count = plan.ops().size();
  WEIR_CHECK(count < std::size_t{1} << 30, count);
  std::vector<OpId> events(count);  // by op
  std::vector<std::uint32_t> waits(count);
  for (const Op& op : plan.ops()) {
    const OpId own = events[op.id.index()] = event(plan, op);
    switch (meets(op.kind)) {
      case Meets::kNobody:
      case Meets::kOtherEnd:
        waits[own.index()] += plan.waits(op.id);
        break;
      case Meets::kMachines:
        for (const OpId other : plan.all_reduce(op.all_reduce)) waits[other.index()] += plan.waits(op.id);
        break;
    }
  }
  Order order;
  order.sequence_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (events[i] == OpId(i) && waits[i] == 0) order.sequence_.push_back(OpId(i));
  }
  std::array<OpId, 2> room;
  for (std::size_t next = 0; next < order.sequence_.size(); ++next) {
    for (const OpId op : ends(plan, order.sequence_[next], room)) {
      for_each_after(plan, op, [&](OpId after, std::uint32_t carried) {
        if (carried != 0) return;
        const OpId target = events[after.index()];
        if (--waits[target.index()] == 0) order.sequence_.push_back(target);
      });
    }
  }
  if (order.sequence_.size() + plan.messages().size() < count) {
    return tl::unexpected(deadlock(plan, cycle(plan, waits)));
  }
  order.join(plan);
  return order;
}

void Order::join(const Plan& plan) {
  position_.resize(plan.ops().size());
  std::array<OpId, 2> room;
  for (std::size_t i = 0; i < sequence_.size(); ++i) {
    for (const OpId op : ends(plan, sequence_[i], room))
      position_[op.index()] = static_cast<std::uint32_t>(i);
  }
  first_after_.assign(1, 0);
  first_after_.reserve(events() + 1);
  first_before_.assign(events() + 1, 0);
  for (const OpId event : sequence_) {
    for (const OpId op : ends(plan, event, room)) {
      for_each_after(plan, op, [&](OpId after, std::uint32_t carried) {
        const std::uint32_t target = position_[after.index()];
        after_.push_back({target & 0x3fffffffU, carried & 1U, op == event ? 0U : 1U});
        ++first_before_[target + 1];
      });
    }
    first_after_.push_back(static_cast<std::uint32_t>(after_.size()));
  }
  std::partial_sum(first_before_.begin(), first_before_.end(), first_before_.begin());
  before_.resize(after_.size());
  std::vector<std::uint32_t> next(first_before_.begin(), first_before_.end() - 1);
  for (std::uint32_t source = 0; source < events(); ++source) {
    for (const Arc arc : after(source)) {
      before_[next[arc.position]++] = {source & 0x3fffffffU, arc.carried, arc.received};
    }
  }
}

}  // namespace weir
