// Two machines, and a plan that moves messages from one to the other and back.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/plan/plan.h"
#include "tests/core/cluster/links.h"

namespace weir::conformance {

inline const Cluster& pair() {
  static const Cluster cluster = cluster_of(R"({"name": "pair", "groups": [
    {"name": "gpu", "count": 2, "numa": [{"sum_rate": "1GB/s"}], "gpus": [{"at": "numa0"}],
     "nics": [{"at": "numa0", "rate": "1GB/s"}]}]})");
  return cluster;
}

/// Adds a message from machine `source`, of two, to the other: its send and its receive.
inline std::pair<OpId, OpId> message(PlanBuilder& builder, std::size_t source, Slice from, Slice into,
                                     Dtype dtype = Dtype::kF16) {
  Op op;
  op.machine = MachineId(source);
  op.peer = MachineId(1 - source);
  op.kind = OpKind::kSend;
  op.message = builder.add_message();
  op.dtype = dtype;
  op.from = from;
  const OpId send = builder.add(op);
  std::swap(op.machine, op.peer);
  op.kind = OpKind::kReceive;
  op.from = {};
  op.into = into;
  return {send, builder.add(op)};
}

/// Machine 0 sends slices of all the sizes, consecutive in memory, to machine 1. That machine sends each of
/// them back into the second half of machine 0's buffer.
struct Echo {
  explicit Echo(const std::vector<Bytes>& sizes) {
    Bytes total;
    for (const Bytes size : sizes) total += size;
    const BufferId here =
        builder.add({MachineId(0), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, total * 2});
    const BufferId there =
        builder.add({MachineId(1), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, total});
    Bytes at;
    for (const Bytes size : sizes) {
      const auto [sent, received] = message(builder, 0, {here, 0, at, size}, {there, 0, at, size});
      const auto [back, end] = message(builder, 1, {there, 0, at, size}, {here, 0, total + at, size});
      builder.order(received, back);
      builder.carry(back, received);
      builder.carry(end, sent);
      at += size;
    }
    plan = std::make_unique<Plan>(std::move(builder).build());
    half = static_cast<std::size_t>(total.count());
  }

  PlanBuilder builder{"echo", 2};
  std::unique_ptr<Plan> plan;
  std::size_t half = 0;
};

}  // namespace weir::conformance
