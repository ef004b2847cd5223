#include "core/run/node.h"

#include <algorithm>

namespace weir {

Node::Node(const Plan& plan, MachineId machine, int iterations, Record& record)
    : plan_(&plan),
      ops_(plan.ops(machine)),
      first_(ops_.empty() ? 0 : ops_.front().id.index()),
      iterations_(ops_.empty() ? 0 : iterations),
      record_(&record),
      progress_(ops_.size()) {
  for (int i = 0; i < kGenerations && i < iterations_; ++i) open(i);
  if (iterations_ == 0) return;
  // Nothing is carried into the first iteration.
  for (std::size_t i = 0; i < ops_.size(); ++i) progress_[i].waits[0] = plan.waits(ops_[i].id);
  collect_ready(0);
}

void Node::open(int iteration) {
  left_[generation(iteration)] = ops_.size();
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    progress_[i].waits[generation(iteration)] = plan_->waits(ops_[i].id) + plan_->carried_waits(ops_[i].id);
  }
}

// Ops of the iteration that wait for nothing any more and whose earlier iteration is done.
void Node::collect_ready(int iteration) {
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    if (may_start(progress_[i], iteration)) ready_.push_back({iteration, static_cast<std::uint32_t>(i)});
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
  OpRecord& record = record_->of(completion.op, iteration);
  record.started = completion.started;
  record.completed = completion.at;
  progress.submitted = false;
  if (completion.error != nullptr) {
    if (!error_) error_ = *completion.error;
    return;
  }
  ++progress.iteration;
  if (--left_[generation(iteration)] == 0) {
    WEIR_CHECK(iteration == first_open_, iteration, first_open_);
    ++first_open_;
    if (iteration + kGenerations < iterations_) open(iteration + kGenerations);
    collect_ready(first_open_ + 1);
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
  if (!may_start(progress, iteration)) return;  // it was named twice
  const Op& op = ops_[local];
  const Instant now = port.now();
  progress.submitted = true;
  record_->of(op.id, iteration).submitted = now;
  if (op.kind == OpKind::kJoin) {
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
