#include "core/plan/reach.h"

#include <algorithm>

namespace weir {

namespace {

constexpr std::size_t kWord = 64;

}  // namespace

Reach::Reach(const Plan& plan, const Order& order)
    : order_(order),
      events_(static_cast<std::uint32_t>(order.events())),
      words_((plan.machines() + kWord - 1) / kWord),
      gates_ahead_(order.events() * words_, 0),
      gates_passed_(order.events() * words_, 0),
      forward_(2 * order.events(), 0),
      backward_(2 * order.events(), 0) {
  mark_gates(plan);
}

void Reach::mark_gates(const Plan& plan) {
  const auto waits_for_last = [&](std::uint32_t event) {
    return std::ranges::any_of(order_.before(event), [](const Arc arc) { return arc.carried != 0; });
  };
  const auto unite = [&](Marks& into, std::size_t event, const Marks& from, std::size_t other) {
    for (std::size_t word = 0; word < words_; ++word)
      into[event * words_ + word] |= from[other * words_ + word];
  };
  std::vector<bool> gated(plan.machines(), false);
  Marks own(gates_passed_.size(), 0);
  for (std::uint32_t event = 0; event < events_; ++event) {
    const std::size_t machine = plan.op(order_.sequence()[event]).machine.index();
    if (!gated[machine] && waits_for_last(event)) {
      gated[machine] = true;
      own[event * words_ + machine / kWord] |= std::uint64_t{1} << (machine % kWord);
    }
    unite(gates_passed_, event, own, event);
    for (const Arc arc : order_.before(event)) {
      if (arc.carried == 0) unite(gates_passed_, event, gates_passed_, arc.position);
    }
  }
  for (std::uint32_t event = events_; event-- > 0;) {
    for (const Arc arc : order_.after(event)) {
      unite(gates_ahead_, event, arc.carried != 0 ? own : gates_ahead_, arc.position);
    }
  }
}

bool Reach::joined_by_gate(std::uint32_t from, std::uint32_t to) const {
  for (std::size_t word = 0; word < words_; ++word) {
    if ((gates_ahead_[from * words_ + word] & gates_passed_[to * words_ + word]) != 0) return true;
  }
  return false;
}

bool Reach::search(std::uint32_t source, std::uint32_t target) {
  ++round_;
  ahead_.assign(1, source);
  behind_.assign(1, target);
  forward_[source] = round_;
  backward_[target] = round_;
  while (!ahead_.empty() && !behind_.empty()) {
    if (ahead_.size() < behind_.size() ? step_forward(target) : step_backward(source)) return true;
  }
  return false;
}

bool Reach::step_forward(std::uint32_t target) {
  found_.clear();
  for (const std::uint32_t point : ahead_) {
    const bool next = point >= events_;
    for (const Arc arc : order_.after(next ? point - events_ : point)) {
      if (next && arc.carried != 0) continue;
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

bool Reach::step_backward(std::uint32_t source) {
  found_.clear();
  for (const std::uint32_t point : behind_) {
    const bool next = point >= events_;
    for (const Arc arc : order_.before(next ? point - events_ : point)) {
      if (!next && arc.carried != 0) continue;
      const std::uint32_t reached = arc.position + (next && arc.carried == 0 ? events_ : 0);
      if (forward_[reached] == round_) return true;
      if (reached < source || backward_[reached] == round_) continue;
      backward_[reached] = round_;
      found_.push_back(reached);
    }
  }
  behind_.swap(found_);
  return false;
}

}  // namespace weir
