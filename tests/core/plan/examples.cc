#include "tests/core/plan/examples.h"

#include <algorithm>

namespace weir::examples {

using namespace literals;

namespace {

Op op(MachineId machine, OpKind kind, Slice from, Slice into, int layer) {
  Op made;
  made.machine = machine;
  made.kind = kind;
  made.from = from;
  made.into = into;
  made.layer = layer;
  if (is_compute(kind)) made.duration = 5_us;
  return made;
}

Op message(Op made, MessageId id, MachineId peer) {
  made.message = id;
  made.peer = peer;
  return made;
}

Trace trace_of(const Plan& plan) {
  Trace trace;
  trace.name = "of a plan";
  for (const Op& op : plan.ops()) {
    if (op.kind != OpKind::kBackward) continue;
    const auto layer = static_cast<std::size_t>(op.layer);
    if (trace.layers.size() <= layer) trace.layers.resize(layer + 1);
    trace.layers[layer].tensors = {{"w", op.into.size.count() / 4, Dtype::kF32}};
  }
  return trace;
}

Topology topology_of(const Plan& plan) {
  Topology topology;
  topology.name = "of a plan";
  for (std::size_t i = 0; i < plan.machines(); ++i) {
    GroupSpec machine;
    machine.name = fmt::format("m{}", i);
    int gpus = 0;
    for (const Buffer& buffer : plan.buffers()) {
      const bool here = buffer.machine == MachineId(i) && buffer.place == Memory::Kind::kGpu;
      if (here) gpus = std::max(gpus, buffer.replicas);
    }
    if (gpus > 0) machine.gpus = {{.count = gpus, .at = "numa0"}};
    machine.nics = {{.at = "numa0", .rate = {100_Gbps, 100_Gbps}}};
    topology.groups.push_back(machine);
  }
  return topology;
}

Slice every(PlanBuilder& builder, BufferId buffer, Bytes offset, Bytes size) {
  return {buffer, Replicas::each(builder.all(buffer)), offset, size};
}

BufferId gpu_buffer(PlanBuilder& builder, MachineId machine, Buffer::Role role, int gpus, Bytes size) {
  return builder.add(
      {.machine = machine, .role = role, .place = Memory::Kind::kGpu, .replicas = gpus, .size = size});
}

BufferId host_buffer(PlanBuilder& builder, MachineId machine, Buffer::Role role, Bytes size) {
  return builder.add({.machine = machine, .role = role, .place = Memory::Kind::kHost, .size = size});
}

}  // namespace

AllReduce::AllReduce() {
  for (std::size_t m = 0; m < 2; ++m) {
    gradient[m] = gpu_buffer(builder, MachineId(m), Buffer::Role::kGradient, 1, 64_B);
    raw[m] = builder.add_message();
    sum[m] = builder.add_message();
  }
  for (std::size_t m = 0; m < 2; ++m) {
    scratch[m] = gpu_buffer(builder, MachineId(m), Buffer::Role::kScratch, 1, 32_B);
  }
  for (std::size_t m = 0; m < 2; ++m) {
    const std::size_t other = 1 - m;
    const MachineId machine(m);
    const MachineId peer(other);
    const Slice whole = every(builder, gradient[m], 0_B, 64_B);
    const Slice own{gradient[m], 0, static_cast<std::int64_t>(m) * 32_B, 32_B};
    const Slice others{gradient[m], 0, static_cast<std::int64_t>(other) * 32_B, 32_B};
    const Slice slot{scratch[m], 0, 0_B, 32_B};
    backward[m] = builder.add(op(machine, OpKind::kBackward, {}, whole, 0));
    send_raw[m] = builder.add(message(op(machine, OpKind::kSend, others, {}, 0), raw[other], peer));
    receive_raw[m] = builder.add(message(op(machine, OpKind::kReceive, {}, slot, 0), raw[m], peer));
    add[m] = builder.add(op(machine, OpKind::kSum, slot, own, 0));
    send_sum[m] = builder.add(message(op(machine, OpKind::kSend, own, {}, 0), sum[m], peer));
    receive_sum[m] = builder.add(message(op(machine, OpKind::kReceive, {}, others, 0), sum[other], peer));
    forward[m] = builder.add(op(machine, OpKind::kForward, whole, {}, 0));

    builder.order(backward[m], send_raw[m]);
    builder.order(backward[m], add[m]);
    builder.order(receive_raw[m], add[m]);
    builder.order(add[m], send_sum[m]);
    builder.order(send_raw[m], receive_sum[m]);
    builder.order(add[m], forward[m]);
    builder.order(receive_sum[m], forward[m]);
    builder.carry(forward[m], backward[m]);
    builder.carry(send_sum[m], backward[m]);
    builder.carry(add[m], receive_raw[m]);
  }
}

Server::Server() {
  constexpr Bytes kPart = 4096_B;
  const MachineId server(2);
  std::array<BufferId, 2> gradient;
  for (std::size_t m = 0; m < 2; ++m) {
    gradient[m] = gpu_buffer(builder, MachineId(m), Buffer::Role::kGradient, 1, kLayers * kPart);
  }
  const BufferId accumulator = host_buffer(builder, server, Buffer::Role::kAccumulator, kLayers * kPart);
  const BufferId ring = host_buffer(builder, server, Buffer::Role::kScratch, kPart);

  // The last layer's gradient is ready first and lies first.
  const auto offset = [&](std::size_t layer) {
    return static_cast<std::int64_t>(kLayers - 1 - layer) * kPart;
  };
  OpId slot_free;
  OpId slot_used_first;
  for (std::size_t layer = kLayers; layer-- > 0;) {
    const int number = static_cast<int>(layer);
    const Slice part{accumulator, 0, offset(layer), kPart};
    const Slice slot{ring, 0, 0_B, kPart};
    for (std::size_t m = 0; m < 2; ++m) {
      const MachineId machine(m);
      const Slice own{gradient[m], 0, offset(layer), kPart};
      const Slice computed = every(builder, gradient[m], offset(layer), kPart);
      up[m][layer] = builder.add_message();
      down[m][layer] = builder.add_message();
      backward[m][layer] = builder.add(op(machine, OpKind::kBackward, {}, computed, number));
      push[m][layer] =
          builder.add(message(op(machine, OpKind::kSend, own, {}, number), up[m][layer], server));
      pull[m][layer] =
          builder.add(message(op(machine, OpKind::kReceive, {}, own, number), down[m][layer], server));
      forward[m][layer] = builder.add(op(machine, OpKind::kForward, computed, {}, number));
      receive[m][layer] = builder.add(
          message(op(server, OpKind::kReceive, {}, m == 0 ? part : slot, number), up[m][layer], machine));
      builder.order(backward[m][layer], push[m][layer]);
      builder.order(push[m][layer], pull[m][layer]);
      builder.order(pull[m][layer], forward[m][layer]);
    }
    add[layer] = builder.add(op(server, OpKind::kSum, slot, part, number));
    for (std::size_t m = 0; m < 2; ++m) {
      builder.order(receive[m][layer], add[layer]);
      send[m][layer] =
          builder.add(message(op(server, OpKind::kSend, part, {}, number), down[m][layer], MachineId(m)));
      builder.order(add[layer], send[m][layer]);
      builder.carry(send[m][layer], receive[0][layer]);
    }
    builder.order(slot_free, receive[1][layer]);
    if (!slot_free.valid()) slot_used_first = receive[1][layer];
    slot_free = add[layer];
  }
  builder.carry(slot_free, slot_used_first);
  for (std::size_t m = 0; m < 2; ++m) {
    builder.order(backward[m][1], backward[m][0]);
    builder.order(forward[m][0], forward[m][1]);
    builder.carry(forward[m][1], backward[m][1]);
  }
}

Local::Local() {
  const MachineId machine(0);
  gradient = gpu_buffer(builder, machine, Buffer::Role::kGradient, 2, 20_B);
  staging = host_buffer(builder, machine, Buffer::Role::kStaging, 20_B);
  const Slice whole = every(builder, gradient, 0_B, 20_B);
  const Slice shards{gradient, Replicas::shards(builder.all(gradient)), 0_B, 20_B};
  const Slice host{staging, 0, 0_B, 20_B};
  backward = builder.add(op(machine, OpKind::kBackward, {}, whole, 0));
  scatter = builder.add(op(machine, OpKind::kReduceScatter, {}, whole, 0));
  out = builder.add(op(machine, OpKind::kCopy, shards, host, 0));
  in = builder.add(op(machine, OpKind::kCopy, host, shards, 0));
  gather = builder.add(op(machine, OpKind::kAllGather, {}, whole, 0));
  forward = builder.add(op(machine, OpKind::kForward, whole, {}, 0));
  for (OpId before = backward; before < forward; before = OpId(before.index() + 1)) {
    builder.order(before, OpId(before.index() + 1));
  }
  builder.carry(forward, backward);
}

Shards::Shards() {
  constexpr Bytes kSize = 20_B;  // five elements: the shards differ in size
  const std::array<MessageId, 2> from = {builder.add_message(), builder.add_message()};
  for (std::size_t m = 0; m < 2; ++m) {
    const MachineId machine(m);
    gradient[m] = gpu_buffer(builder, machine, Buffer::Role::kGradient, 2, kSize);
    scratch[m] = gpu_buffer(builder, machine, Buffer::Role::kScratch, 2, kSize);
    const Slice whole = every(builder, gradient[m], 0_B, kSize);
    const Slice own{gradient[m], Replicas::shards(builder.all(gradient[m])), 0_B, kSize};
    const Slice others{scratch[m], Replicas::shards(builder.all(scratch[m])), 0_B, kSize};
    const OpId backward = builder.add(op(machine, OpKind::kBackward, {}, whole, 0));
    const OpId scatter = builder.add(op(machine, OpKind::kReduceScatter, {}, whole, 0));
    send[m] = builder.add(message(op(machine, OpKind::kSend, own, {}, 0), from[m], MachineId(1 - m)));
    receive[m] =
        builder.add(message(op(machine, OpKind::kReceive, {}, others, 0), from[1 - m], MachineId(1 - m)));
    add[m] = builder.add(op(machine, OpKind::kSum, others, own, 0));
    const OpId gather = builder.add(op(machine, OpKind::kAllGather, {}, whole, 0));
    const OpId forward = builder.add(op(machine, OpKind::kForward, whole, {}, 0));
    builder.order(backward, scatter);
    builder.order(scatter, send[m]);
    builder.order(send[m], add[m]);
    builder.order(receive[m], add[m]);
    builder.order(add[m], gather);
    builder.order(gather, forward);
    builder.carry(forward, backward);
    builder.carry(add[m], receive[m]);
  }
}

Setting::Setting(const Plan& plan)
    : trace(trace_of(plan)), topology(topology_of(plan)), cluster(topology), workload(trace) {}

Result<Proof> proof_of(const Plan& plan) {
  const Setting setting(plan);
  return prove(plan, setting.cluster, setting.workload);
}

}  // namespace weir::examples
