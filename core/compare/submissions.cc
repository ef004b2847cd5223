#include "core/compare/submissions.h"

#include <algorithm>
#include <tuple>

namespace weir {
namespace {

struct Predecessor {
  OpId op;
  bool carried;
};

// The ops that each op waits for according to the plan.
std::vector<std::vector<Predecessor>> predecessors(const Plan& plan) {
  std::vector<std::vector<Predecessor>> all(plan.ops().size());
  for (const Op& op : plan.ops()) {
    for (const Successor successor : plan.successors(op.id))
      all[successor.id().index()].push_back({op.id, successor.carried != 0});
  }
  return all;
}

// Finds when ops of one record could be submitted.
class Readying {
 public:
  Readying(const Recorded& run, const std::vector<std::vector<Predecessor>>& predecessors)
      : plan_(run.plan), record_(run.record), predecessors_(predecessors) {
    for (std::size_t i = 0; i < plan_.machines(); ++i) {
      std::vector<OpId>& last = last_.emplace_back();
      for (int j = 0; j < static_cast<int>(record_.iterations.size()); ++j) {
        OpId latest;
        for (const Op& op : plan_.ops(MachineId(i))) {
          const bool later =
              !latest.valid() || record_.of(latest, j).completed < record_.of(op.id, j).completed;
          if (later) latest = op.id;
        }
        last.push_back(latest);
      }
    }
  }

  Submitted of(Turn turn) const { return {record_.of(turn.op, turn.iteration).submitted, readiness(turn)}; }

  Readiness readiness(Turn turn) const {
    Readiness ready;
    const auto wait_for = [&](OpId op, int iteration) {
      if (iteration < 0) return;
      const Instant at = record_.of(op, iteration).completed;
      if (!ready.after || at > ready.at) ready = {Turn{op, iteration}, at};
    };
    for (const Predecessor before : predecessors_[turn.op.index()])
      wait_for(before.op, turn.iteration - (before.carried ? 1 : 0));
    wait_for(turn.op, turn.iteration - 1);
    if (turn.iteration >= 2) {
      const auto earlier = static_cast<std::size_t>(turn.iteration - 2);
      wait_for(last_[plan_.op(turn.op).machine.index()][earlier], turn.iteration - 2);
    }
    if (!ready.after || !is_control(plan_.op(ready.after->op).kind)) return ready;
    return readiness(*ready.after);
  }

 private:
  const Plan& plan_;
  const Record& record_;
  const std::vector<std::vector<Predecessor>>& predecessors_;
  std::vector<std::vector<OpId>> last_;  // by machine and iteration: the op that completed last
};

// A submission, with its instants in both records.
struct Pair {
  Instant in_a;
  Instant in_b;
  int iteration;
  OpId op;
  Turn turn() const { return {op, iteration}; }
  friend auto operator<=>(const Pair&, const Pair&) = default;
};

std::vector<Pair> pairs(const Recorded& a, const Recorded& b, MachineId machine, int iterations) {
  std::vector<Pair> all;
  for (int i = 0; i < iterations; ++i) {
    for (const Op& op : a.plan.ops(machine)) {
      if (is_control(op.kind)) continue;
      all.push_back({a.record.of(op.id, i).submitted, b.record.of(op.id, i).submitted, i, op.id});
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

MachineOrder order(MachineId machine, const std::vector<Pair>& all, const Readying& a, const Readying& b) {
  MachineOrder order{machine, all.size(), 0, 0, {}};
  const auto swap = [&](const Pair& first, const Pair& second) {
    return Swap{first.turn(),        second.turn(),      a.of(first.turn()),
                a.of(second.turn()), b.of(first.turn()), b.of(second.turn())};
  };
  const Pair* latest = nullptr;  // the latest in the second record, among those that are earlier in the first
  for (std::size_t i = 0, group = 0; i < all.size(); ++i) {
    for (; all[group].in_a < all[i].in_a; ++group) {
      if (latest == nullptr || latest->in_b < all[group].in_b) latest = &all[group];
    }
    if (latest == nullptr || latest->in_b <= all[i].in_b) continue;
    ++order.swapped;
    if (swap(*latest, all[i]).ready_in_other_order()) ++order.ready_in_other_order;
    if (order.first) continue;
    // The op whose turn it was when the second record's core submitted this one.
    const auto turn =
        std::find_if(all.begin(), all.end(), [&](const Pair& other) { return other.in_b > all[i].in_b; });
    order.first = swap(*turn, all[i]);
  }
  return order;
}

Promptness promptness(const Recorded& run, const Readying& readying, int iterations) {
  Promptness prompt;
  for (int i = 0; i < iterations; ++i) {
    for (const Op& op : run.plan.ops()) {
      if (is_control(op.kind)) continue;
      const Submitted submitted = readying.of({op.id, i});
      const Duration waited = submitted.at - submitted.ready.at;
      if (submitted.ready.after) prompt.longest = std::max(prompt.longest, waited);
      if (waited >= Duration()) continue;
      if (prompt.early++ == 0) prompt.first_early = Turn{op.id, i};
    }
  }
  return prompt;
}

}  // namespace

bool Orders::equal() const {
  return std::all_of(machines.begin(), machines.end(),
                     [](const MachineOrder& machine) { return machine.swapped == 0; });
}

Orders orders(const Recorded& a, const Recorded& b) {
  Orders orders;
  orders.iterations = static_cast<int>(std::min(a.record.iterations.size(), b.record.iterations.size()));
  const auto predecessors = weir::predecessors(a.plan);
  const Readying in_a(a, predecessors);
  const Readying in_b(b, predecessors);
  for (std::size_t i = 0; i < a.plan.machines(); ++i) {
    const MachineId machine(i);
    orders.machines.push_back(order(machine, pairs(a, b, machine, orders.iterations), in_a, in_b));
  }
  orders.a = promptness(a, in_a, orders.iterations);
  orders.b = promptness(b, in_b, orders.iterations);
  return orders;
}

}  // namespace weir
