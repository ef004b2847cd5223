#include "core/run/node.h"

#include <algorithm>

namespace weir {

Node::Node(const Plan& plan, MachineId machine, int iterations, Record& record)
    : plan_(&plan),
      ops_(plan.ops(machine)),
      first_(ops_.empty() ? 0 : ops_.front().id.index()),
      iterations_(ops_.empty() ? 0 : iterations),
      record_(&record),
      iteration_of_(ops_.size(), 0),
      state_(ops_.size(), State::kWaiting) {
  for (int i = 0; i < kGenerations && i < iterations_; ++i) open(i);
  if (iterations_ == 0) return;
  // Nothing is carried into the first iteration.
  for (std::size_t i = 0; i < ops_.size(); ++i) generations_[0].waits[i] = plan.waits(ops_[i].id);
  collect_ready(0);
  collect_ready(1);
}

void Node::open(int iteration) {
  Generation& fresh = generation(iteration);
  fresh.left = ops_.size();
  fresh.waits.resize(ops_.size());
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    fresh.waits[i] = plan_->waits(ops_[i].id) + plan_->carried_waits(ops_[i].id);
  }
}

// Ops of the iteration that wait for nothing any more and whose earlier iteration is done.
void Node::collect_ready(int iteration) {
  if (iteration >= iterations_ || iteration > first_open_ + 1) return;
  const Generation& now = generation(iteration);
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    if (now.waits[i] == 0 && iteration_of_[i] == iteration && state_[i] == State::kWaiting) {
      ready_.push_back({iteration, static_cast<std::uint32_t>(i)});
    }
  }
}

void Node::satisfy(std::size_t local, int iteration) {
  if (iteration >= iterations_) return;
  std::uint32_t& waits = generation(iteration).waits[local];
  WEIR_CHECK(waits > 0, local, iteration);
  if (--waits > 0) return;
  const bool own_turn = iteration_of_[local] == iteration && state_[local] == State::kWaiting;
  if (own_turn && iteration <= first_open_ + 1)
    ready_.push_back({iteration, static_cast<std::uint32_t>(local)});
}

void Node::complete(const Completion& completion) {
  const std::size_t local = completion.op.index() - first_;
  WEIR_CHECK(local < ops_.size() && state_[local] == State::kSubmitted, completion.op);
  const int iteration = iteration_of_[local];
  OpRecord& record = record_->of(completion.op, iteration);
  record.started = completion.started;
  record.completed = completion.at;
  state_[local] = State::kWaiting;
  if (completion.error) {
    if (!error_) error_ = completion.error;
    return;
  }
  ++iteration_of_[local];
  if (--generation(iteration).left == 0) {
    WEIR_CHECK(iteration == first_open_, iteration, first_open_);
    ++first_open_;
    if (iteration + kGenerations < iterations_) open(iteration + kGenerations);
    collect_ready(first_open_ + 1);
  }
  const int next = iteration + 1;
  if (next < iterations_ && next <= first_open_ + 1 && generation(next).waits[local] == 0) {
    ready_.push_back({next, static_cast<std::uint32_t>(local)});
  }
  for (const Successor successor : plan_->successors(completion.op)) {
    satisfy(successor.op - first_, iteration + (successor.carried != 0 ? 1 : 0));
  }
}

bool Node::pump(Port& port) {
  completions_.clear();
  port.poll(completions_);
  for (const Completion& completion : completions_) complete(completion);
  const bool worked = !completions_.empty() || !ready_.empty();
  if (error_) return worked;
  while (!ready_.empty()) {
    batch_.swap(ready_);
    std::sort(batch_.begin(), batch_.end());
    for (const Ready& next : batch_) start(next, port);
    batch_.clear();
  }
  return worked;
}

void Node::start(const Ready& ready, Port& port) {
  const auto [iteration, local] = ready;
  if (state_[local] == State::kSubmitted || iteration_of_[local] != iteration) return;  // it was named twice
  const Op& op = ops_[local];
  const Instant now = port.now();
  state_[local] = State::kSubmitted;
  record_->of(op.id, iteration).submitted = now;
  if (op.kind == OpKind::kJoin) {
    complete({op.id, now, now, std::nullopt});
  } else {
    port.submit(op);
  }
}

std::vector<OpId> Node::outstanding(std::size_t most) const {
  std::vector<OpId> ids;
  for (std::size_t i = 0; i < ops_.size() && ids.size() < most; ++i) {
    if (state_[i] == State::kSubmitted) ids.push_back(ops_[i].id);
  }
  return ids;
}

}  // namespace weir
