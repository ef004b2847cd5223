#include "core/run/node.h"

#include <algorithm>
#include <numeric>

namespace weir {

Node::Node(const Plan& plan, MachineId machine, int iterations, Record* record, Rounds rounds)
    : plan_(&plan),
      ops_(plan.ops(machine)),
      first_(ops_.empty() ? 0 : ops_.front().id.index()),
      iterations_(iterations),
      record_(record),
      progress_(ops_.size()) {
  if (iterations_ > 0 && rounds == Rounds::kApart) divide();
  if (iterations_ > 0 && rounds == Rounds::kTogether && !ops_.empty()) {
    groups_.emplace_back().ops.resize(ops_.size());
    std::iota(groups_[0].ops.begin(), groups_[0].ops.end(), 0U);
  }
  unfinished_ = groups_.size();
  for (Group& group : groups_) {
    for (int i = 0; i < kGenerations && i < iterations_; ++i) open(group, i);
  }
  // Nothing is carried into the first iteration.
  for (std::size_t i = 0; i < ops_.size(); ++i) progress_[i].waits[0] = plan.waits(ops_[i].id);
  for (const Group& group : groups_) collect_ready(group, 0);
}

// Divides the ops into groups that edges connect.
void Node::divide() {
  std::vector<std::uint32_t> leader(ops_.size());  // another op of the same group: a union-find forest
  const auto find = [&](std::uint32_t op) {
    while (leader[op] != op) op = leader[op] = leader[leader[op]];
    return op;
  };
  std::iota(leader.begin(), leader.end(), 0U);
  for (std::uint32_t i = 0; i < leader.size(); ++i) {
    for (const Successor successor : plan_->successors(ops_[i].id)) {
      const std::uint32_t other = find(static_cast<std::uint32_t>(successor.op - first_));
      leader[other] = find(i);
    }
  }
  std::vector<std::uint32_t> number(ops_.size());
  for (std::uint32_t i = 0; i < leader.size(); ++i) {
    if (find(i) != i) continue;
    number[i] = static_cast<std::uint32_t>(groups_.size());
    groups_.emplace_back();
  }
  for (std::uint32_t i = 0; i < leader.size(); ++i) {
    progress_[i].group = number[find(i)];
    groups_[progress_[i].group].ops.push_back(i);
  }
}

void Node::open(Group& group, int iteration) {
  group.left[generation(iteration)] = group.ops.size();
  for (const std::uint32_t i : group.ops) {
    progress_[i].waits[generation(iteration)] = plan_->waits(ops_[i].id) + plan_->carried_waits(ops_[i].id);
  }
}

// Collects the ops of the iteration that wait for nothing and whose own earlier iteration is done.
void Node::collect_ready(const Group& group, int iteration) {
  for (const std::uint32_t i : group.ops) {
    if (may_start(progress_[i], iteration)) ready_.push_back({iteration, i});
  }
}

void Node::satisfy(std::size_t local, int iteration) {
  if (iteration >= iterations_) return;
  Progress& progress = progress_[local];
  std::uint32_t& waits = progress.waits[generation(iteration)];
  WEIR_CHECK(waits > 0, local, iteration);
  --waits;
  if (may_start(progress, iteration)) ready_.push_back({iteration, static_cast<std::uint32_t>(local)});
}

void Node::complete(const Completion& completion) {
  const std::size_t local = completion.op.index() - first_;
  WEIR_CHECK(local < ops_.size() && progress_[local].submitted, completion.op);
  Progress& progress = progress_[local];
  const int iteration = progress.iteration;
  if (record_ != nullptr) {
    OpRecord& record = record_->of(completion.op, iteration);
    record.started = completion.started;
    record.completed = completion.at;
  }
  progress.submitted = false;
  if (completion.error != nullptr) {
    if (!error_) error_ = *completion.error;
    return;
  }
  ++progress.iteration;
  Group& group = groups_[progress.group];
  if (--group.left[generation(iteration)] == 0) {
    WEIR_CHECK(iteration == group.first_open, iteration, group.first_open);
    if (++group.first_open == iterations_) --unfinished_;
    if (iteration + kGenerations < iterations_) open(group, iteration + kGenerations);
    collect_ready(group, group.first_open + 1);
  }
  if (may_start(progress, progress.iteration)) {
    ready_.push_back({progress.iteration, static_cast<std::uint32_t>(local)});
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
  Progress& progress = progress_[local];
  if (!may_start(progress, iteration)) return;  // it was listed twice
  const Op& op = ops_[local];
  const Instant now = port.now();
  progress.submitted = true;
  if (record_ != nullptr) record_->of(op.id, iteration).submitted = now;
  if (is_control(op.kind)) {
    complete({op.id, now, now});
  } else {
    port.submit(op);
  }
}

std::vector<OpId> Node::outstanding(std::size_t most) const {
  std::vector<OpId> ids;
  for (std::size_t i = 0; i < ops_.size() && ids.size() < most; ++i) {
    if (progress_[i].submitted) ids.push_back(ops_[i].id);
  }
  return ids;
}

}  // namespace weir
