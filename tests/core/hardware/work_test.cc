#include "core/hardware/work.h"

#include "core/run/queue.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

// One machine of two GPUs and two NUMA nodes, and one that sums:
//
//   gpu0 --10-- numa0 (20) --- nic0 --1--> other nic0 --- numa0 (20, sums 5)
//   gpu1 --10--/
const Cluster& cluster() {
  static const Cluster made = cluster_of(R"({"name": "two", "groups": [
    {"name": "gpu", "count": 1, "numa": [{"memory_rate": "20GB/s", "sum_rate": "4GB/s"}],
     "gpus": [{"count": 2, "at": "numa0", "rate": "10GB/s", "sum_rate": "100GB/s"}],
     "nics": [{"at": "numa0", "rate": "1GB/s", "latency": "2us"}]},
    {"name": "cpu", "count": 1, "numa": [{"memory_rate": "20GB/s", "sum_rate": {"f32": "5GB/s", "other": "2GB/s"}}],
     "nics": [{"at": "numa0", "rate": "1GB/s"}]}], "network": {"latency": "3us"}})");
  return made;
}

class Maker {
 public:
  Maker() {
    gradient = builder.add({MachineId(0), Buffer::Role::kGradient, Memory::Kind::kGpu, 0, 2, 8_MB});
    staging = builder.add({MachineId(0), Buffer::Role::kStaging, Memory::Kind::kHost, 0, 1, 8_MB});
    landing = builder.add({MachineId(1), Buffer::Role::kScratch, Memory::Kind::kHost, 0, 1, 8_MB});
    total = builder.add({MachineId(1), Buffer::Role::kAccumulator, Memory::Kind::kHost, 0, 1, 8_MB});
  }

  // The work of this op in a plan with no other op; on machine 0 unless the op names another.
  Work work(Op op) {
    if (!op.machine.valid()) op.machine = MachineId(0);
    builder.add(op);
    plan = std::move(builder).build();
    table.emplace(plan, cluster());
    return table->of(OpId(0));
  }

  std::string path(const Work& work) const {
    if (work.path == Work::kNoPath) return "none";
    std::string text;
    for (const LinkUse& use : table->paths()[static_cast<std::size_t>(work.path)]) {
      text += fmt::format("{}{}*{}", text.empty() ? "" : " ", cluster().link(use.link).name, use.weight);
    }
    return text;
  }
  Replicas every() { return Replicas::each(builder.all(gradient)); }
  Replicas shards() { return Replicas::shards(builder.all(gradient)); }
  std::string resource(const Work& work) const { return name(table->resources()[work.resource], cluster()); }

  PlanBuilder builder{"work", 2};
  BufferId gradient, staging, landing, total;
  Plan plan;
  std::optional<WorkTable> table;
};

Op make_op(OpKind kind, const Slice& from, const Slice& into) {
  Op op;
  op.kind = kind;
  op.from = from;
  op.into = into;
  return op;
}

TEST_CASE("compute occupies the machine's GPUs for its time") {
  Maker maker;
  Op op = make_op(OpKind::kForward, {maker.gradient, maker.every(), 0_B, 8_MB}, {});
  op.duration = 3_ms;
  const Work work = maker.work(op);
  CHECK(work.hold == 3_ms);
  CHECK(maker.path(work) == "none");
  CHECK(maker.resource(work) == "gpu[0] compute");
  CHECK(maker.table->shortest(OpId(0)) == 3_ms);
}

TEST_CASE("a wait occupies its machine's scheduler, and a hold occupies nothing") {
  for (const auto& [kind, resource] : {std::pair(OpKind::kWait, "scheduler"), {OpKind::kHold, "timer"}}) {
    Maker maker;
    Op op = make_op(kind, {}, {});
    op.duration = 3_ms;
    const Work work = maker.work(op);
    CHECK(work.hold == 3_ms);
    CHECK(maker.path(work) == "none");
    CHECK(maker.resource(work) == std::string("gpu[0] ") + resource);
    CHECK(charge(op) == (kind == OpKind::kWait ? 1_B : 0_B));
  }
}

TEST_CASE("a sum flows at the rate of its dtype, and passes its memory three times") {
  Maker f32;
  Op op = make_op(OpKind::kSum, {f32.landing, 0, 0_B, 5_MB}, {f32.total, 0, 0_B, 5_MB});
  op.machine = MachineId(1);
  const Work work = f32.work(op);
  CHECK(work.hold == 0_ms);
  CHECK(f32.path(work) == "cpu[0].numa0.bus*3 cpu[0].numa0 sum*1");
  CHECK(f32.table->shortest(OpId(0)) == 1_ms);
  CHECK(f32.table->flow_time(work.path, work.size) == 1_ms);
  CHECK(f32.resource(work) == "cpu[0].numa0 sum");
  op.dtype = Dtype::kF16;
  Maker f16;
  f16.work(op);
  CHECK(f16.table->shortest(OpId(0)) == 2500_us);
}

TEST_CASE("an update is as many sums of single precision as it passes memory") {
  Maker maker;
  Op op = make_op(OpKind::kUpdate, {}, {maker.total, 0, 0_B, 6_MB});
  op.machine = MachineId(1);
  op.dtype = Dtype::kF16;  // the parameters are in single precision
  op.passes = 5;
  const Work work = maker.work(op);
  CHECK(maker.path(work) == "cpu[0].numa0.bus*3 cpu[0].numa0 sum*1");
  CHECK(work.size == 20_MB);
  CHECK(maker.table->shortest(OpId(0)) == 4_ms);
  CHECK(maker.resource(work) == "cpu[0].numa0 sum");
}

TEST_CASE("the shares of a sharded copy move side by side, and share the memory bus") {
  Maker maker;
  const Work work = maker.work(
      make_op(OpKind::kCopy, {maker.gradient, maker.shards(), 0_B, 8_MB}, {maker.staging, 0, 0_B, 8_MB}));
  CHECK(work.size == 4_MB);
  CHECK(maker.path(work).find("gpu[0].gpu0.up*1") != std::string::npos);
  CHECK(maker.path(work).find("gpu[0].gpu1.up*1") != std::string::npos);
  CHECK(maker.path(work).find("*2") != std::string::npos);  // the memory bus
  CHECK(maker.resource(work) == "gpu[0] copy shares out");
  CHECK(maker.table->shortest(OpId(0)) == 400_us);
}

TEST_CASE("a reduce-scatter passes all but one share over each hop of the ring") {
  Maker maker;
  const Work work =
      maker.work(make_op(OpKind::kReduceScatter, {}, {maker.gradient, maker.every(), 0_B, 8_MB}));
  CHECK(work.size == 4_MB);
  CHECK(maker.resource(work) == "gpu[0] reduce");
}

TEST_CASE("flows of single GPUs together load the same links as their collective") {
  Maker maker;
  maker.work(make_op(OpKind::kReduceScatter, {}, {maker.gradient, maker.every(), 0_B, 8_MB}));
  const WorkTable macro(maker.plan, cluster());
  CHECK(macro.strands(macro.of(OpId(0))).size() == 1);
  const WorkTable apart(maker.plan, cluster(), Collectives::kPerGpu);
  const Work& work = apart.of(OpId(0));
  REQUIRE(apart.strands(work).size() == 2);
  std::map<LinkId, int> weights;
  for (const int path : apart.strands(work)) {
    for (const LinkUse& use : apart.paths()[static_cast<std::size_t>(path)]) weights[use.link] += use.weight;
  }
  for (const LinkUse& use : apart.paths()[static_cast<std::size_t>(work.path)])
    CHECK(weights[use.link] == use.weight);
  CHECK(work.size == macro.of(OpId(0)).size);
}

// A reduce-scatter of two GPUs passes half of the bytes over each hop. The first GPU's copy passes all of
// them.
TEST_CASE("collectives and copies of a machine have connections in proportion to their bytes") {
  Maker maker;
  Op copy = make_op(OpKind::kCopy, {maker.gradient, 0, 0_B, 8_MB}, {maker.staging, 0, 0_B, 8_MB});
  copy.machine = MachineId(0);
  maker.builder.add(copy);
  maker.work(make_op(OpKind::kReduceScatter, {}, {maker.gradient, maker.every(), 0_B, 8_MB}));
  const Work& copied = maker.table->of(OpId(0));
  CHECK(copied.connections == 2);
  CHECK(copied.size == 4_MB);
  CHECK(maker.path(copied).find("gpu[0].gpu0.up*2") != std::string::npos);
  CHECK(maker.table->shortest(OpId(0)) == 800_us);
  CHECK(maker.table->of(OpId(1)).connections == 1);
}

TEST_CASE("messages share links in proportion to their channel's bytes, or evenly if nothing paces them") {
  for (const bool paced : {true, false}) {
    Maker maker;
    if (!paced) maker.builder.do_not_pace();
    const auto message = [&](MachineId from, MachineId into, Bytes size) {
      Op send = make_op(OpKind::kSend, {maker.staging, 0, 0_B, size}, {});
      send.machine = from;
      send.peer = into;
      send.message = maker.builder.add_message();
      maker.builder.add(send);
      Op receive = make_op(OpKind::kReceive, {}, {maker.landing, 0, 0_B, size});
      receive.machine = into;
      receive.peer = from;
      receive.message = send.message;
      maker.builder.add(receive);
    };
    message(MachineId(0), MachineId(1), 3_MB);
    message(MachineId(1), MachineId(0), 1_MB);
    const Plan plan = std::move(maker.builder).build();
    const WorkTable table(plan, cluster());
    CHECK(table.of(plan.messages()[0].send).connections == (paced ? 3 : 1));
    CHECK(table.of(plan.messages()[1].send).connections == 1);
  }
}

TEST_CASE("a reduce passes all bytes along the chain to its root") {
  Maker maker;
  const Work work = maker.work(make_op(OpKind::kReduce, {}, {maker.gradient, maker.every(), 0_B, 8_MB}));
  CHECK(work.size == 8_MB);
  CHECK(maker.path(work).find("gpu1.up") != std::string::npos);
  CHECK(maker.path(work).find("gpu0.up") == std::string::npos);
}

TEST_CASE("a message crosses both memories, both NICs and the latencies between") {
  Maker maker;
  Op send = make_op(OpKind::kSend, {maker.staging, 0, 0_B, 1_MB}, {});
  send.peer = MachineId(1);
  send.message = maker.builder.add_message();
  Op receive = make_op(OpKind::kReceive, {}, {maker.landing, 0, 0_B, 1_MB});
  receive.machine = MachineId(1);
  receive.peer = MachineId(0);
  receive.message = send.message;
  maker.builder.add(receive);
  const Work work = maker.work(send);
  CHECK(maker.path(work).find("gpu[0].nic0.out*1") != std::string::npos);
  CHECK(maker.path(work).find("cpu[0].nic0.in*1") != std::string::npos);
  CHECK(work.latency == 5_us);
  CHECK(maker.resource(work) == "gpu[0].nic0");
  CHECK(maker.table->shortest(OpId(0)) == 1005_us);
  std::vector<Bytes> loads = link_loads(maker.plan, cluster(), *maker.table);
  CHECK(loads[cluster().machine(MachineId(0)).nics[0].out.index()] == 1_MB);
  CHECK(loads[cluster().machine(MachineId(0)).nics[0].in.index()] == 0_B);
}

}  // namespace
}  // namespace weir
