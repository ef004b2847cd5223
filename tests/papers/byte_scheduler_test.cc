// Examples that ByteScheduler (SOSP'19) works out by hand, on SimGrid and on the toy engine.
#include <algorithm>
#include <numeric>

#include "backends/sim/world.h"
#include "core/strategies/strategy.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"
#include "tests/toy/world.h"

namespace weir {
namespace {

using namespace weir::literals;

// The record of both worlds, which must be equal.
Record simulated(const Plan& plan, const Cluster& cluster, const SimulationSettings& settings) {
  const Result<Record> record = sim::simulate(plan, cluster, settings);
  REQUIRE(record);
  const Result<toy::ToyRun> oracle = toy::run(plan, cluster, settings);
  REQUIRE(oracle);
  CHECK(*record == oracle->record);
  return *record;
}

// Figure 2: three layers, 1 ms for each forward and each backward. Their pushes and pulls take 1.5, 3 and 1.5
// ms at 1 GB/s.
Trace figure_2() {
  Trace trace;
  trace.name = "Fig. 2";
  for (const std::int64_t elements : {375'000, 750'000, 375'000}) {
    trace.layers.push_back(
        {fmt::format("{}", trace.layers.size()), 1_ms, 1_ms, {{"w", elements, Dtype::kF32}}});
  }
  return trace;
}

Duration last_forward(const Plan& plan, const Record& record) {
  Duration end;
  for (const Op& op : plan.ops()) {
    if (op.kind == OpKind::kForward) end = std::max(end, record.of(op.id, 0).completed - Instant());
  }
  return end;
}

Duration iteration(Policy policy, Bytes part, Duration overhead) {
  const Cluster cluster(shipped_topology("toy-two-machines"));
  const Trace trace = figure_2();
  const Workload workload(trace);
  Options options;
  options.partition_size = options.finest_part = part;
  options.credit = 1;
  options.policy = policy;
  const Result<Plan> plan = strategy_named("ps").value()->plan(cluster, workload, options);
  REQUIRE(plan);
  SimulationSettings settings;
  settings.dispatch = dispatch_of(**strategy_named("ps"), options);
  settings.model.message_overhead = overhead;
  return last_forward(*plan, simulated(*plan, cluster, settings));
}

TEST_CASE("Fig. 2: whole tensors, first come, first served, end at 13") {
  CHECK(iteration(Policy::kFifo, 3_MB, 0_ns) == 13_ms);
}

TEST_CASE("Fig. 2: priorities and parts of half a unit end at 9") {
  CHECK(iteration(Policy::kPriority, 500_KB, 0_ns) == 9_ms);
}

// Section 4.1: with parts of delta and an overhead of theta for each, an iteration takes at most
//     sum over tensors of floor(s / delta) theta + theta + 2 delta / B
// longer than with the finest parts and free preemption. In that ideal case the pushes of layer 2 would end
// at 2 ms, but those of layers 1 and 0 go before them. Layer 0 is back at 4.5 ms, layer 1 at 6.5 ms and layer
// 2 at 7 ms, so the last forward ends at 8.5 ms. The floor is printed in the paper and holds if delta divides
// s. Otherwise a tensor has one more part and one more overhead.
TEST_CASE("parts and their overhead cost no more than the delay bound") {
  const Duration theta = 300_us;
  for (const Bytes delta :
       {30_KB, 50_KB, 100_KB, 250_KB, 300_KB, 500_KB, 750_KB, 1000_KB, 1500_KB, 3000_KB}) {
    Duration bound = theta + Duration(2 * delta.count());  // 1 GB/s is a byte per nanosecond
    const Trace trace = figure_2();
    for (const Layer& layer : trace.layers)
      bound += theta * ((size(layer.tensors.front()) + delta - 1_B) / delta);
    const Duration took = iteration(Policy::kPriority, delta, theta);
    CAPTURE(delta.count(), took.ns(), bound.ns());
    CHECK(took <= 8500_us + bound);
    CHECK(took > 8500_us);
  }
}

TEST_CASE("without overhead, finer parts approach free preemption") {
  CHECK(iteration(Policy::kPriority, 5_KB, 0_ns) <= 8500_us + 10_us);
  CHECK(iteration(Policy::kPriority, 5_KB, 0_ns) >= 8500_us);
}

// Section 4.2: four tensors become ready one after another while the first is being sent. The last is the
// most urgent.
std::vector<int> order_of_starts(std::int64_t window) {
  const Cluster cluster(shipped_topology("toy-two-machines"));
  PlanBuilder builder("four tensors", 2);
  const BufferId source =
      builder.add({MachineId(0), Buffer::Role::kGradient, Memory::Kind::kGpu, 0, 1, Bytes(0)});
  const BufferId target =
      builder.add({MachineId(1), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, Bytes(0)});
  OpId before;
  for (int i = 0; i < 4; ++i) {
    Op backward;
    backward.machine = MachineId(0);
    backward.kind = OpKind::kBackward;
    backward.layer = i;
    backward.duration = i == 0 ? 0_ns : 100_us;
    backward.into = builder.reserve(source, 1_MB, Dtype::kF32);
    const OpId ready = builder.add(backward);
    builder.order(before, ready);
    before = ready;
    Op send;
    send.machine = MachineId(0);
    send.kind = OpKind::kSend;
    send.message = builder.add_message();
    send.peer = MachineId(1);
    send.layer = i + 1;
    send.priority = -i;
    send.from = backward.into;
    Op receive = send;
    receive.machine = MachineId(1);
    receive.kind = OpKind::kReceive;
    receive.peer = MachineId(0);
    receive.from = {};
    receive.into = builder.reserve(target, 1_MB, Dtype::kF32);
    builder.order(ready, builder.add(send));
    builder.add(receive);
  }
  const Plan plan = std::move(builder).build();
  SimulationSettings settings;
  settings.dispatch = {Policy::kPriority, 1_MB * window};
  const Record record = simulated(plan, cluster, settings);
  std::vector<const Op*> sends;
  for (const Op& op : plan.ops()) {
    if (op.kind == OpKind::kSend) sends.push_back(&op);
  }
  std::sort(sends.begin(), sends.end(), [&](const Op* a, const Op* b) {
    return record.of(a->id, 0).started < record.of(b->id, 0).started;
  });
  std::vector<int> order;
  for (const Op* send : sends) order.push_back(send->layer);
  return order;
}

TEST_CASE("the window decides how many less urgent messages are already under way") {
  CHECK(order_of_starts(1) == std::vector<int>{1, 4, 3, 2});
  CHECK(order_of_starts(2) == std::vector<int>{1, 2, 4, 3});
  CHECK(order_of_starts(4) == std::vector<int>{1, 2, 3, 4});
}

}  // namespace
}  // namespace weir
