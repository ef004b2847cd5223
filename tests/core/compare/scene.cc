#include "tests/core/compare/scene.h"

#include "tests/core/cluster/links.h"

namespace weir {

using namespace weir::literals;

namespace {

Trace one_layer() {
  Trace trace;
  trace.layers = {{"dense", 100_ns, 100_ns, {{"w", 250, Dtype::kF32}}}};
  return trace;
}

}  // namespace

CompareScene::CompareScene()
    : cluster(cluster_of(R"({"name": "lab", "groups": [{"name": "gpu", "count": 2, "gpus": [{"at": "numa0"}],
                                   "nics": [{"at": "numa0", "rate": "10GB/s"}]}]})")),
      trace(one_layer()),
      workload(trace),
      plan(make()) {}

Plan CompareScene::make() {
  PlanBuilder builder("by hand", 2);
  std::vector<BufferId> staging;
  for (std::size_t i = 0; i < 2; ++i) {
    staging.push_back(builder.add({MachineId(i), Buffer::Role::kStaging, Memory::Kind::kHost, 0, 1, 2000_B}));
  }
  Op op{.machine = MachineId(0), .kind = OpKind::kBackward, .layer = 0, .duration = 100_ns};
  backward = builder.add(op);
  const auto message = [&](OpId& send, OpId& receive, Bytes offset) {
    const MessageId id = builder.add_message();
    Op out{.machine = MachineId(0), .kind = OpKind::kSend, .layer = 0, .peer = MachineId(1), .message = id};
    out.from = {staging[0], 0, offset, 500_B};
    send = builder.add(out);
    Op in{.machine = MachineId(1), .kind = OpKind::kReceive, .layer = 0, .peer = MachineId(0), .message = id};
    in.into = {staging[1], 0, offset, 500_B};
    receive = builder.add(in);
    builder.order(backward, send);
  };
  message(send_x, receive_x, 0_B);
  message(send_y, receive_y, 500_B);
  const auto sum = [&](OpId receive, Bytes offset) {
    Op add{.machine = MachineId(1), .kind = OpKind::kSum, .layer = 0};
    add.from = {staging[1], 0, offset, 500_B};
    add.into = {staging[1], 0, offset + 1000_B, 500_B};
    const OpId id = builder.add(add);
    builder.order(receive, id);
    return id;
  };
  sum_x = sum(receive_x, 0_B);
  sum_y = sum(receive_y, 500_B);
  join = builder.add({.machine = MachineId(1), .kind = OpKind::kJoin});
  builder.order(sum_x, join);
  builder.order(sum_y, join);
  forward = builder.add({.machine = MachineId(1), .kind = OpKind::kForward, .layer = 0, .duration = 100_ns});
  builder.order(join, forward);
  Plan built = std::move(builder).build();
  // In the order in which they were added, machine by machine.
  backward = OpId(0), send_x = OpId(1), send_y = OpId(2);
  receive_x = OpId(3), receive_y = OpId(4), sum_x = OpId(5), sum_y = OpId(6), join = OpId(7),
  forward = OpId(8);
  return built;
}

Record CompareScene::record() const {
  Record record(plan.ops().size(), 2);
  for (int i = 0; i < 2; ++i) {
    const Instant begin(std::int64_t{1000} * i);
    const auto set = [&](OpId op, std::int64_t submitted, std::int64_t started, std::int64_t completed) {
      record.of(op, i) = {begin + Duration(submitted), begin + Duration(started),
                          begin + Duration(completed)};
    };
    set(backward, 0, 0, 100);
    set(send_x, 100, 110, 300);
    set(send_y, 100, 310, 500);
    set(receive_x, 0, 110, 310);
    set(receive_y, 0, 310, 510);
    set(sum_x, 310, 310, 360);
    set(sum_y, 510, 510, 560);
    set(join, 560, 560, 560);
    set(forward, 560, 560, 660);
  }
  return record;
}

void delay(Record& record, OpId op, int iteration, Duration duration) {
  OpRecord& times = record.of(op, iteration);
  times = {times.submitted + duration, times.started + duration, times.completed + duration};
}

}  // namespace weir
