#include "core/plan/reach.h"

#include <algorithm>

namespace weir {

namespace {

constexpr std::size_t kWordOfGates = 64;
constexpr std::uint32_t kNoGate = 0xffffffff;

}  // namespace

Reach::Reach(const Plan& plan, const Order& order)
    : order_(order),
      events_(static_cast<std::uint32_t>(order.events())),
      words_((plan.machines() + kWordOfGates - 1) / kWordOfGates),
      gates_ahead_(2 * order.events() * words_, 0),
      gates_passed_(order.events() * words_, 0),
      forward_(2 * order.events(), 0),
      backward_(2 * order.events(), 0) {
  mark_gates(plan);
}

void Reach::mark_gates(const Plan& plan) {
  const auto waits_for_last = [&](std::uint32_t event) {
    return std::ranges::any_of(order_.before(event), [](const Arc arc) { return arc.carried != 0; });
  };
  const auto mark = [&](Marks& into, std::size_t row, std::uint32_t gate) {
    into[row * words_ + gate / kWordOfGates] |= std::uint64_t{1} << (gate % kWordOfGates);
  };
  const auto unite = [&](Marks& into, std::size_t row, const Marks& from, std::size_t other) {
    for (std::size_t word = 0; word < words_; ++word)
      into[row * words_ + word] |= from[other * words_ + word];
  };
  std::vector<bool> gated(plan.machines(), false);
  std::vector<std::uint32_t> gates(events_, kNoGate);  // by event: the machine whose gate it is
  for (std::uint32_t event = 0; event < events_; ++event) {
    const MachineId machine = plan.op(order_.sequence()[event]).machine;
    if (!gated[machine.index()] && waits_for_last(event)) {
      gated[machine.index()] = true;
      gates[event] = machine.value();
      mark(gates_passed_, event, machine.value());
    }
    for (const Arc arc : order_.before(event)) {
      if (arc.carried == 0) unite(gates_passed_, event, gates_passed_, arc.position);
    }
  }
  for (std::uint32_t event = events_; event-- > 0;) {
    for (const Arc arc : order_.after(event)) {
      const std::size_t end = 2 * std::size_t{event} + arc.received;
      const std::size_t next = 2 * std::size_t{arc.position};
      if (arc.carried == 0) {
        unite(gates_ahead_, end, gates_ahead_, next);
        unite(gates_ahead_, end, gates_ahead_, next + 1);
      } else if (gates[arc.position] != kNoGate) {
        mark(gates_ahead_, end, gates[arc.position]);
      }
    }
  }
}

bool Reach::joined_by_gate(End before, std::uint32_t to) const {
  const std::size_t end = 2 * std::size_t{before.position} + before.received;
  for (std::size_t word = 0; word < words_; ++word) {
    if ((gates_ahead_[end * words_ + word] & gates_passed_[to * words_ + word]) != 0) return true;
  }
  return false;
}

bool Reach::search(End before, std::uint32_t ends, std::uint32_t target) {
  source_ = before.position;
  ends_ = ends;
  if (source_ >= target) return false;
  ++round_;
  ahead_.assign(1, source_);
  behind_.assign(1, target);
  backward_[target] = round_;
  const std::size_t first = order_.after(source_).size();
  const std::size_t last = order_.before(target < events_ ? target : target - events_).size();
  if (first < last && step_forward(target)) return true;
  while (!ahead_.empty() && !behind_.empty()) {
    if (ahead_.size() < behind_.size() ? step_forward(target) : step_backward()) return true;
  }
  return false;
}

bool Reach::step_forward(std::uint32_t target) {
  found_.clear();
  for (const std::uint32_t point : ahead_) {
    const bool next = point >= events_;
    for (const Arc arc : order_.after(next ? point - events_ : point)) {
      if ((next && arc.carried != 0) || !open(point, arc)) continue;
      const std::uint32_t reached = arc.position + (next || arc.carried != 0 ? events_ : 0);
      if (backward_[reached] == round_) return true;
      if (reached > target || forward_[reached] == round_) continue;
      forward_[reached] = round_;
      found_.push_back(reached);
    }
  }
  ahead_.swap(found_);
  return false;
}

bool Reach::step_backward() {
  found_.clear();
  for (const std::uint32_t point : behind_) {
    const bool next = point >= events_;
    for (const Arc arc : order_.before(next ? point - events_ : point)) {
      if (!next && arc.carried != 0) continue;
      const std::uint32_t reached = arc.position + (next && arc.carried == 0 ? events_ : 0);
      if (reached <= source_) {
        if (reached == source_ && open(reached, arc)) return true;
        continue;
      }
      if (forward_[reached] == round_) return true;
      if (backward_[reached] == round_) continue;
      backward_[reached] = round_;
      found_.push_back(reached);
    }
  }
  behind_.swap(found_);
  return false;
}

}  // namespace weir
