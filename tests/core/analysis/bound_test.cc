#include "core/analysis/bound.h"

#include <map>

#include "core/analysis/critical_path.h"
#include "core/analysis/local_choice.h"
#include "core/strategies/strategy.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

// One layer of 90 MB in f32, 10 ms forward and 20 ms backward.
Trace one_layer() {
  Trace trace;
  trace.name = "one layer";
  trace.layers = {{"0", 10_ms, 20_ms, {{"w", 22'500'000, Dtype::kF32}}}};
  return trace;
}

Cluster machines(int gpu, int cpu, const std::string& gpu_rate = "9GB/s") {
  return cluster_of(fmt::format(R"({{"name": "uniform", "groups": [
    {{"name": "gpu", "count": {}, "gpus": [{{"at": "numa0"}}], "nics": [{{"at": "numa0", "rate": "{}"}}]}},
    {{"name": "cpu", "count": {}, "nics": [{{"at": "numa0", "rate": "9GB/s"}}]}}]}})",
                                gpu, gpu_rate, cpu));
}

// The bound minus the 30 ms of compute. With a single layer, compute and communication cannot overlap.
Duration exchange(const Cluster& cluster) {
  const Trace trace = one_layer();
  return cluster_bound(cluster, Workload(trace), Stretch::first()).time - 30_ms;
}

void check_near(Duration a, Duration b) { CHECK(std::abs((a - b).ns()) <= 2); }

TEST_CASE("a machine alone is bound by its compute") {
  const Trace trace = one_layer();
  const Bound bound = cluster_bound(machines(1, 0), Workload(trace), Stretch::first());
  check_near(bound.time, 30_ms);
  CHECK(bound.binding == "compute");
}

TEST_CASE("bounds of uniform clusters follow Eq. 6 of BytePS, up to as many CPU machines as workers") {
  // M / B is 10 ms.
  check_near(exchange(machines(8, 0)), 17'500_us);
  check_near(exchange(machines(8, 4)), Duration(10'000'000LL * 2 * 8 * 7 / (64 + 32 - 8)));
  check_near(exchange(machines(8, 8)), 10_ms);
  check_near(exchange(machines(8, 12)), 10_ms);
  check_near(exchange(machines(2, 2)), 10_ms);
}

TEST_CASE("a worker's slow NIC limits all machines") {
  const Cluster cluster = cluster_of(R"({"name": "slow", "groups": [
    {"name": "gpu", "count": 3, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "9GB/s"}]},
    {"name": "slow", "count": 1, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": {"in": "9GB/s", "out": "3GB/s"}}]}]})");
  check_near(exchange(cluster), 30_ms);
  const Trace trace = one_layer();
  CHECK(cluster_bound(cluster, Workload(trace), Stretch::first()).binding == "slow[0].nic0.out");
}

TEST_CASE("a rack's uplink passes the model once") {
  const Cluster cluster = cluster_of(R"({"name": "racks", "groups": [
    {"name": "gpu", "count": 4, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "9GB/s"}]}],
    "network": {"racks": {"size": 2, "uplink": "1GB/s"}}})");
  check_near(exchange(cluster), 90_ms);
}

TEST_CASE("early communication hides behind compute") {
  // The second layer's 45 MB travel while the first layer computes backward. Only the first layer's 45 MB are
  // exposed.
  Trace trace;
  trace.name = "two";
  trace.layers = {{"0", 10_ms, 20_ms, {{"a", 11'250'000, Dtype::kF32}}},
                  {"1", 10_ms, 20_ms, {{"b", 11'250'000, Dtype::kF32}}}};
  const Bound bound = cluster_bound(machines(2, 0), Workload(trace), Stretch::first());
  check_near(bound.time, 65_ms);
}

TEST_CASE("a plan's bound counts what the plan moves") {
  // Colocated servers move 2(n-1)/n M, however many CPU machines there are: 15 ms with four workers.
  const Trace trace = one_layer();
  const Workload workload(trace);
  const Cluster cluster = machines(4, 4);
  const Options options;
  const Result<Plan> plan = strategy_named("colocated-ps").value()->plan(cluster, workload, options);
  REQUIRE(plan);
  const Bound bound = plan_bound(*plan, cluster, workload, Stretch::first());
  CHECK((bound.time - 30_ms) / 15_ms == Approx(1.0).epsilon(0.002));
  CHECK(cluster_bound(cluster, workload, Stretch::first()).time < bound.time);
}

TEST_CASE("stretches of iterations take no less than the shorter stretches that they are made of") {
  Windows windows;
  windows.offer(1, 1.0);
  windows.offer(2, 6.0);
  CHECK(windows.mean({1, 1}, 9.0) == 1.0);
  CHECK(windows.mean({1, 2}, 9.0) == 3.0);
  CHECK(windows.mean({1, 5}, 9.0) == 13.0 / 5);
  CHECK(windows.mean({1, 1001}, 9.0) == 3001.0 / 1001);
  CHECK(windows.mean({0, 3}, 9.0) == 5.0);  // the first iteration, and two more
  CHECK(windows.mean(Stretch::first(), 9.0) == 9.0);
  CHECK(windows.mean(Stretch::steady(), 9.0) == 3.0);
  windows.offer(3, 6.0, 4.0);
  CHECK(windows.mean({1, 4}, 9.0) == 3.0);
  CHECK(windows.mean({1, 1003}, 9.0) == 4006.0 / 1003);
  CHECK(windows.mean(Stretch::steady(), 9.0) == 4.0);
}

TEST_CASE("in the long run, machines that differ take the mean of their cycle") {
  // One machine sends slowly, another receives slowly: every third step of a cycle is fast.
  const Cluster cluster = cluster_of(R"({"name": "cycle", "groups": [
    {"name": "out", "count": 1, "gpus": [{"at": "numa0"}],
     "nics": [{"at": "numa0", "rate": {"in": "9GB/s", "out": "3GB/s"}}]},
    {"name": "gpu", "count": 1, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "9GB/s"}]},
    {"name": "in", "count": 1, "gpus": [{"at": "numa0"}],
     "nics": [{"at": "numa0", "rate": {"in": "3GB/s", "out": "9GB/s"}}]}]})");
  const Trace trace = one_layer();
  const Workload workload(trace);
  CHECK(cluster_bound(cluster, workload, Stretch::first()).time == 60_ms);
  check_near(cluster_bound(cluster, workload, Stretch::steady()).time, (60_ms + 60_ms + 40_ms) / 3);
}

TEST_CASE("where machines are alike, every iteration takes as long as an exchange between two of them") {
  const Trace trace = one_layer();
  const Workload workload(trace);
  for (const Stretch& stretch : {Stretch{1, 1}, Stretch{1, 7}, Stretch::steady()}) {
    const Bound bound = cluster_bound(machines(8, 8), workload, stretch);
    check_near(bound.time, 40_ms);
    CHECK(bound.binding == "gpu[0].nic0.out");
  }
}

TEST_CASE("without gradients, machines wait for nobody") {
  Trace trace = one_layer();
  trace.layers[0].tensors.clear();
  check_near(cluster_bound(machines(4, 2), Workload(trace), Stretch::steady()).time, 30_ms);
}

TEST_CASE("a plan's steady bound is no less than that of any plan, and its loads alone") {
  const Trace trace = one_layer();
  const Workload workload(trace);
  const Cluster cluster = machines(4, 1, "1GB/s");
  for (const Strategy& strategy : strategies()) {
    INFO(strategy.name);
    const auto plan = strategy.plan(cluster, workload, {});
    REQUIRE(plan);
    const Duration steady = plan_bound(*plan, cluster, workload, Stretch::steady()).time;
    CHECK(steady >= cluster_bound(cluster, workload, Stretch::steady()).time);
    for (const Need& need : plan_needs(*plan, cluster, workload))
      if (need.name != "critical path") CHECK(steady + Duration(1) >= need.whole);
  }
}

TEST_CASE("what NICs read from a GPU need not pass the links to other memories") {
  // The GPU and the NIC share a switch, whose way up is slow.
  const Cluster cluster = cluster_of(R"({"name": "peers", "groups": [{"name": "gpu", "count": 2,
    "switches": [{"name": "p0", "at": "numa0", "rate": "1GB/s"}],
    "gpus": [{"at": "p0"}], "nics": [{"at": "p0", "rate": "9GB/s"}]}]})");
  check_near(exchange(cluster), 10_ms);
}

TEST_CASE("needs have a name, bytes, a rate and a time") {
  const Trace trace = one_layer();
  const std::vector<Need> needs = cluster_needs(machines(8, 4), Workload(trace));
  // Each GPU machine has four directions of 9 GB/s, each CPU machine 3/4 of that: 198 GB/s in all for 28 x 90
  // MB.
  REQUIRE(needs.size() == 1 + 1 + 2 * 8);
  CHECK(needs[0].name == "all NICs together");
  CHECK(needs[0].bytes == Bytes(28 * 90'000'000LL));
  CHECK(needs[0].rate == 198_GBps);
  check_near(needs[0].whole, Duration(12'727'272));
  CHECK(needs[0].compute == 30_ms);
  CHECK(needs[0].time == cluster_bound(machines(8, 4), Workload(trace), Stretch::first()).time);
  CHECK(needs[1].name == "gpu[0].nic0.out");
  CHECK(needs[1].bytes == 90_MB);
  check_near(needs[1].whole, 10_ms);
  check_near(needs[1].time, 40_ms);
  CHECK(needs.back().name == "compute");
  CHECK(needs.back().time == 30_ms);
}

TEST_CASE("needs belong to the machines that they name, whatever the order of machines") {
  const Cluster cluster = cluster_of(R"({"name": "turned", "groups": [
    {"name": "c", "count": 2, "numa": [{"sum_rate": "5GB/s"}], "nics": [{"at": "numa0", "rate": "9GB/s"}]},
    {"name": "machines-with-a-long-name", "count": 4, "numa": [{"sum_rate": "5GB/s"}],
     "gpus": [{"at": "numa0", "rate": "10GB/s"}], "nics": [{"at": "numa0", "rate": "9GB/s"}]}]})");
  const Trace trace = one_layer();
  const Workload workload(trace);
  const auto* const unified = strategy_named("unified").value();
  const auto plan = unified->plan(cluster, workload, {});
  REQUIRE(plan);
  const auto needs = plan_needs(*plan, cluster, workload);
  REQUIRE(needs.size() > 4);
  for (const Need& need : needs) {
    if (!need.machine.valid()) continue;
    INFO(need.name);
    CHECK(need.name.starts_with(cluster.machine(need.machine).name));
  }
}

TEST_CASE("no schedule exchanges more bytes a second than NICs and uplinks let through") {
  CHECK(goodput_bound(machines(8, 0)).value() == 5'142'857'143);  // n/(2(n-1)) of 9 GB/s
  CHECK(goodput_bound(machines(8, 8)) == 9_GBps);
  CHECK(!goodput_bound(machines(1, 0)).limited());
  const Cluster racks = cluster_of(R"({"name": "racks", "groups": [
    {"name": "gpu", "count": 4, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "9GB/s"}]}],
    "network": {"racks": {"size": 2, "uplink": "1GB/s"}}})");
  CHECK(goodput_bound(racks) == 1_GBps);
}

TEST_CASE(
    "a plan's needs have its links, its devices, its compute and its critical path, the longest first") {
  const Trace trace = one_layer();
  const Workload workload(trace);
  const Cluster cluster = machines(4, 4);
  const Result<Plan> plan = strategy_named("ps").value()->plan(cluster, workload, Options{});
  REQUIRE(plan);
  const std::vector<Need> needs = plan_needs(*plan, cluster, workload);
  const Bound bound = plan_bound(*plan, cluster, workload, Stretch::first());
  CHECK(needs.front().name == bound.binding);
  CHECK(needs.front().time == bound.time);
  std::map<std::string, Need> named;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    if (i > 0) CHECK(needs[i].time <= needs[i - 1].time);
    named[needs[i].name] = needs[i];
  }
  CHECK(named["gpu[0].nic0.out"].bytes == 90_MB);
  CHECK(named["gpu[0].nic0.out"].rate == 9_GBps);
  check_near(named["gpu[0].nic0.out"].whole, 10_ms);
  CHECK(named["compute"].time == 30_ms);
  CHECK(named["critical path"].time == critical_path(*plan, WorkTable(*plan, cluster)).length);
  CHECK(named.count("cpu[0].nic0.in") == 1);
}

TEST_CASE("the critical path goes from backward to forward through ops that must follow each other") {
  // Backward on two machines, a message from the first to the second, the sum there, and forward.
  const Cluster cluster = cluster_of(R"({"name": "two", "groups": [{"name": "gpu", "count": 2,
    "gpus": [{"at": "numa0"}], "numa": [{"sum_rate": "1GB/s"}],
    "nics": [{"at": "numa0", "rate": "1GB/s", "latency": "5us"}]}]})");
  PlanBuilder builder("by hand", 2);
  const MachineId first(0);
  const MachineId second(1);
  const BufferId from = builder.add({first, Buffer::Role::kStaging, Memory::Kind::kHost, 0, 1, 1_MB});
  const BufferId into = builder.add({second, Buffer::Role::kStaging, Memory::Kind::kHost, 0, 1, 1_MB});
  const BufferId landing = builder.add({second, Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, 1_MB});
  const MessageId message = builder.add_message();
  const auto add = [&](MachineId machine, OpKind kind, Duration duration, const Slice& source,
                       const Slice& target) {
    Op op{.machine = machine, .kind = kind, .layer = 0, .duration = duration};
    op.from = source;
    op.into = target;
    if (is_message(kind)) op.message = message;
    if (is_message(kind)) op.peer = MachineId(1 - machine.index());
    return builder.add(op);
  };
  const OpId slow = add(first, OpKind::kBackward, 3_ms, {}, {from, 0, 0_B, 1_MB});
  const OpId fast = add(second, OpKind::kBackward, 1_ms, {}, {into, 0, 0_B, 1_MB});
  const OpId send = add(first, OpKind::kSend, 0_ms, {from, 0, 0_B, 1_MB}, {});
  const OpId receive = add(second, OpKind::kReceive, 0_ms, {}, {landing, 0, 0_B, 1_MB});
  const OpId join = add(second, OpKind::kJoin, 0_ms, {}, {});
  const OpId sum = add(second, OpKind::kSum, 0_ms, {landing, 0, 0_B, 1_MB}, {into, 0, 0_B, 1_MB});
  const OpId forward = add(second, OpKind::kForward, 2_ms, {into, 0, 0_B, 1_MB}, {});
  builder.order(slow, send);
  builder.order(receive, join);
  builder.order(fast, join);
  builder.order(join, sum);
  builder.order(sum, forward);
  const Plan plan = std::move(builder).build();
  const CriticalPath path = critical_path(plan, WorkTable(plan, cluster));
  std::vector<OpKind> kinds;
  for (const OpId id : path.ops) kinds.push_back(plan.op(id).kind);
  CHECK(kinds == std::vector<OpKind>{OpKind::kBackward, OpKind::kSend, OpKind::kSum, OpKind::kForward});
  CHECK(plan.op(path.ops.front()).machine == first);
  CHECK(path.compute == 5_ms);
  CHECK(path.sends == 1_ms);
  CHECK(path.sums == 1_ms);
  CHECK(path.copies + path.collectives == 0_ms);
  CHECK(path.latency > 0_ms);
  CHECK(path.length == path.compute + path.sends + path.sums + path.latency);
}

TEST_CASE("the split's bound is no less than that of all plans and no more than that of the split's plan") {
  const Trace trace = one_layer();
  const Workload workload(trace);
  const Loopback loopback = GENERATE(Loopback::kMemory, Loopback::kNic);
  for (const char* name : {"byteps-v100-nvlink", "byteps-v100-pcie", "cloud-20gbps", "mixed-rates",
                           "one-gpu-90gbps", "racks-oversubscribed", "toy-two-machines"}) {
    INFO(name);
    const Cluster cluster(shipped_topology(name));
    Options options;
    options.loopback = loopback;
    const auto local = choose_local(cluster, Dtype::kF32, options);
    REQUIRE(local.has_value());
    const auto shares = shares_of(cluster, Dtype::kF32, options, local->stages, Summing::kOptimal);
    REQUIRE(shares.has_value());
    const auto plan = (*strategy_named("unified"))->plan(cluster, workload, options);
    REQUIRE(plan.has_value());
    const Duration split = split_bound(cluster, workload, *shares, Stretch::first()).time;
    CHECK(split >= cluster_bound(cluster, workload, Stretch::first()).time);
    CHECK(split.seconds() <=
          plan_bound(*plan, cluster, workload, Stretch::first()).time.seconds() * (1 + 1e-6));
  }
}

TEST_CASE("the split's bound counts what machines send themselves through their NICs") {
  const Trace trace = one_layer();
  const Workload workload(trace);
  const Cluster cluster(shipped_topology("toy-two-machines"));
  const auto bound = [&](Loopback loopback) {
    Options options;
    options.loopback = loopback;
    const auto local = choose_local(cluster, Dtype::kF32, options).value();
    const auto shares = shares_of(cluster, Dtype::kF32, options, local.stages, Summing::kOptimal).value();
    const auto plan = (*strategy_named("unified"))->plan(cluster, workload, options).value();
    return std::pair(split_bound(cluster, workload, shares, Stretch::first()).time,
                     plan_bound(plan, cluster, workload, Stretch::first()).time);
  };
  const auto [memory, memory_plan] = bound(Loopback::kMemory);
  const auto [nic, nic_plan] = bound(Loopback::kNic);
  CHECK(nic > memory);
  CHECK(nic_plan - nic <= (memory_plan - memory) * 2);  // as close to the plan's bound as before
}

}  // namespace
}  // namespace weir
