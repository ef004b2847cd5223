#include "core/plan/plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace weir {

std::span<const Op> Plan::ops(MachineId machine) const {
  const std::size_t first = first_op_[machine.index()];
  return ops().subspan(first, first_op_[machine.index() + 1] - first);
}

Bytes Plan::host_memory(MachineId machine) const {
  Bytes total;
  for (const Buffer& buffer : buffers_) {
    if (buffer.machine == machine && buffer.place == Memory::Kind::kHost) total += buffer.size;
  }
  return total;
}

Bytes Plan::gpu_memory(MachineId machine) const {
  Bytes total;
  for (const Buffer& buffer : buffers_) {
    if (buffer.machine == machine && buffer.place == Memory::Kind::kGpu) total += buffer.size;
  }
  return total;
}

PlanBuilder::PlanBuilder(std::string strategy, std::size_t machines)
    : strategy_(std::move(strategy)), machines_(machines) {}

BufferId PlanBuilder::add(const Buffer& buffer) {
  buffers_.push_back(buffer);
  return BufferId(buffers_.size() - 1);
}

GroupId PlanBuilder::group(const std::vector<int>& gpus) {
  auto known = std::find(groups_.begin(), groups_.end(), gpus);
  if (known == groups_.end()) known = groups_.insert(known, gpus);
  return GroupId(static_cast<std::size_t>(known - groups_.begin()));
}

GroupId PlanBuilder::all(BufferId buffer) {
  std::vector<int> gpus(static_cast<std::size_t>(buffers_[buffer.index()].replicas));
  std::iota(gpus.begin(), gpus.end(), 0);
  return group(gpus);
}

Slice PlanBuilder::reserve(BufferId buffer, Bytes size, Dtype dtype) {
  Bytes& end = buffers_[buffer.index()].size;
  const std::int64_t step = to_pages_ && size >= kPage ? kPage.count() : weir::size(dtype).count();
  const Slice slice = {buffer, {}, Bytes((end.count() + step - 1) / step * step), size};
  end = slice.end();
  return slice;
}

OpId PlanBuilder::add(Op op) {
  WEIR_CHECK(op.machine.index() < machines_, op.machine, machines_);
  op.id = OpId(ops_.size());
  ops_.push_back(op);
  return op.id;
}

MessageId PlanBuilder::add_message() { return MessageId(messages_++); }

AllReduceId PlanBuilder::add_all_reduce() { return AllReduceId(all_reduces_++); }

void PlanBuilder::check_edge(OpId before, OpId after) const {
  WEIR_CHECK(after.valid(), before);
  WEIR_CHECK(ops_[before.index()].machine == ops_[after.index()].machine, before, after);
}

void PlanBuilder::order(OpId before, OpId after) {
  if (!before.valid()) return;
  check_edge(before, after);
  edges_.push_back({before, after, false});
}

void PlanBuilder::carry(OpId before, OpId after) {
  if (!before.valid()) return;
  check_edge(before, after);
  edges_.push_back({before, after, true});
}

void PlanBuilder::set_message_efficiency(double efficiency) {
  WEIR_CHECK(efficiency > 0.0 && efficiency <= 1.0, efficiency);
  message_efficiency_ = efficiency;
}

void PlanBuilder::order_sums() {
  std::map<std::tuple<BufferId, Replicas::Kind, std::uint16_t, Bytes>, OpId> last;
  for (const Op& op : ops_) {
    if (!adds_into(op.kind)) continue;
    OpId& before = last[{op.into.buffer, op.into.on.kind, op.into.on.index, op.into.offset}];
    order(before, op.id);
    before = op.id;
  }
}

bool PlanBuilder::remove_edge(OpId before, OpId after) {
  const auto erased =
      std::erase_if(edges_, [&](const Edge& edge) { return edge.before == before && edge.after == after; });
  return erased > 0;
}

Plan PlanBuilder::build() && {
  Plan plan;
  plan.strategy_ = std::move(strategy_);
  plan.message_efficiency_ = message_efficiency_;
  plan.paced_ = paced_;
  plan.buffers_ = std::move(buffers_);
  plan.groups_ = std::move(groups_);
  plan.first_op_.assign(machines_ + 1, 0);
  for (const Op& op : ops_) ++plan.first_op_[op.machine.index() + 1];
  std::partial_sum(plan.first_op_.begin(), plan.first_op_.end(), plan.first_op_.begin());

  std::vector<std::size_t> next(plan.first_op_.begin(), plan.first_op_.end() - 1);
  std::vector<OpId> renamed(ops_.size());
  plan.ops_.resize(ops_.size());
  plan.messages_.resize(messages_);
  plan.all_reduces_.resize(all_reduces_);
  for (Op& op : ops_) {
    const OpId id(next[op.machine.index()]++);
    renamed[op.id.index()] = id;
    op.id = id;
    plan.ops_[id.index()] = op;
    switch (meets(op.kind)) {
      case Meets::kNobody:
        break;
      case Meets::kOtherEnd: {
        WEIR_CHECK(op.message.index() < messages_, op.id);
        MessageEnds& ends = plan.messages_[op.message.index()];
        (reads_from(op.kind) ? ends.send : ends.receive) = id;
        break;
      }
      case Meets::kMachines:
        WEIR_CHECK(op.all_reduce.index() < all_reduces_, op.id);
        plan.all_reduces_[op.all_reduce.index()].push_back(id);
        break;
    }
  }
  ops_ = std::vector<Op>();  // frees memory: large plans have millions of ops
  for (std::vector<OpId>& ops : plan.all_reduces_) std::ranges::sort(ops);

  plan.waits_.assign(plan.ops_.size(), 0);
  plan.carried_waits_.assign(plan.ops_.size(), 0);
  plan.first_successor_.assign(plan.ops_.size() + 1, 0);
  for (Edge& edge : edges_) {
    edge = {renamed[edge.before.index()], renamed[edge.after.index()], edge.carried};
    ++plan.first_successor_[edge.before.index() + 1];
    ++(edge.carried ? plan.carried_waits_ : plan.waits_)[edge.after.index()];
  }
  std::partial_sum(plan.first_successor_.begin(), plan.first_successor_.end(), plan.first_successor_.begin());
  std::vector<std::size_t> slot(plan.first_successor_.begin(), plan.first_successor_.end() - 1);
  plan.successors_.resize(edges_.size());
  for (const Edge& edge : edges_) {
    plan.successors_[slot[edge.before.index()]++] = {edge.after.value() & 0x7fffffffU,
                                                     edge.carried ? 1U : 0U};
  }
  return plan;
}

std::vector<MachineId> Plan::peers(MachineId machine) const {
  std::set<MachineId> peers;
  for (const Op& op : ops(machine)) {
    if (is_message(op.kind)) peers.insert(op.peer);
  }
  return {peers.begin(), peers.end()};
}

}  // namespace weir
