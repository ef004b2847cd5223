// How copies, collectives, messages and sums slow each other down inside a machine. Worked out by hand, on
// SimGrid and on the toy engine. A megabyte at 1 GB/s takes a millisecond.
#include "backends/sim/world.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"
#include "tests/toy/world.h"

namespace weir {
namespace {

using namespace weir::literals;

// Four machines, each with two PCIe switches: 10 GB/s to their CPU, 6 GB/s between devices. The first switch,
// at one socket, has four GPUs of 8 GB/s and a NIC. The second, at the other socket, has two GPUs.
const Cluster& cluster() {
  static const Cluster made = cluster_of(R"({"name": "contention", "groups": [
    {"name": "m", "count": 4, "numa": [{}, {}], "sockets": [{"between": [0, 1], "rate": "4GB/s"}],
     "switches": [{"name": "p0", "at": "numa0", "rate": "10GB/s", "peer_rate": "6GB/s"},
                  {"name": "p1", "at": "numa1", "rate": "10GB/s", "peer_rate": "6GB/s"}],
     "gpus": [{"count": 4, "at": "p0", "rate": "8GB/s"}, {"count": 2, "at": "p1", "rate": "8GB/s"}],
     "nics": [{"at": "p0", "rate": "12GB/s"}]}]})");
  return made;
}

// Four machines without GPUs. Each has two NUMA nodes with memory of 30 MB/s, joined by 4 MB/s. Their cores
// sum 8 MB/s; f16 on the first node 5 MB/s. The first node has a NIC of 12 MB/s.
const Cluster& summing() {
  static const Cluster made = cluster_of(R"({"name": "summing", "groups": [
    {"name": "m", "count": 4,
     "numa": [{"memory_rate": "30MB/s", "sum_rate": {"f32": "8MB/s", "f16": "5MB/s"}},
              {"memory_rate": "30MB/s", "sum_rate": "8MB/s"}],
     "sockets": [{"between": [0, 1], "rate": "4MB/s"}],
     "nics": [{"at": "numa0", "rate": "12MB/s"}]}]})");
  return made;
}

// Ops without edges that all start at once, and the times when they end.
class Traffic {
 public:
  explicit Traffic(const Cluster& cluster = weir::cluster()) : cluster_(cluster) {
    const auto gpus = static_cast<int>(cluster.machine(MachineId(0)).gpus.size());
    for (std::size_t m = 0; m < 4; ++m) {
      for (int numa = 0; numa < 2; ++numa) {
        host_.push_back(
            builder_.add({MachineId(m), Buffer::Role::kScratch, Memory::Kind::kHost, numa, 1, Bytes(0)}));
      }
      if (gpus == 0) continue;
      gpus_.push_back(
          builder_.add({MachineId(m), Buffer::Role::kScratch, Memory::Kind::kGpu, 0, gpus, Bytes(0)}));
    }
  }

  // Memory of the first machine.
  Slice host(int numa, Bytes size) {
    return builder_.reserve(host_[static_cast<std::size_t>(numa)], size, Dtype::kF32);
  }
  Slice gpu(int gpu, Bytes size) {
    Slice slice = builder_.reserve(gpus_[0], size, Dtype::kF32);
    slice.on = gpu;
    return slice;
  }

  void copy(const Slice& from, const Slice& into) {
    Op op;
    op.machine = MachineId(0);
    op.kind = OpKind::kCopy;
    op.from = from;
    op.into = into;
    add(op);
  }

  // Sums on the first machine; those on one NUMA node take turns.
  void sum(int from, int into, Bytes size, Dtype dtype = Dtype::kF32) {
    Op op;
    op.machine = MachineId(0);
    op.kind = OpKind::kSum;
    op.dtype = dtype;
    op.from = host(from, size);
    op.into = host(into, size);
    add(op);
  }
  void update(int numa, Bytes size, int passes, Dtype dtype = Dtype::kF32) {
    Op op;
    op.machine = MachineId(0);
    op.kind = OpKind::kUpdate;
    op.dtype = dtype;
    op.into = host(numa, size);
    op.passes = passes;
    add(op);
  }

  void reduce_scatter(const std::vector<int>& gpus, Bytes size) {
    Op op;
    op.machine = MachineId(0);
    op.kind = OpKind::kReduceScatter;
    op.into = gpu(0, size);
    op.into.on = Replicas::each(builder_.group(gpus));
    add(op);
  }

  // Messages from the first machine to another one's host memory, or the other way round.
  void send(const Slice& from, std::size_t peer) {
    message(MachineId(0), from, MachineId(peer), far(peer, from.size));
  }
  void receive(const Slice& into, std::size_t peer) {
    message(MachineId(peer), far(peer, into.size), MachineId(0), into);
  }

  // When each op ends, in milliseconds and in the order of adding. Both worlds must agree.
  std::vector<double> ends(Collectives collectives = Collectives::kMacro) {
    const Plan plan = std::move(builder_).build();
    SimulationSettings settings;
    settings.model.collectives = collectives;
    settings.dispatch.window = 1_GB;
    const auto simgrid = sim::simulate(plan, cluster_, settings);
    REQUIRE(simgrid);
    const auto toy = toy::run(plan, cluster_, settings);
    REQUIRE(toy);
    std::vector<double> ends;
    for (std::size_t i = 0; i < added_.size(); ++i) {
      for (const Op& op : plan.ops()) {
        if (op.layer != static_cast<int>(i) || op.kind == OpKind::kReceive) continue;
        const auto end = [&](const Record& record) {
          return (record.of(op.id, 0).completed - Instant()).seconds() * 1e3;
        };
        CHECK(end(toy->record) == Approx(end(*simgrid)).epsilon(1e-6));
        ends.push_back(end(*simgrid));
      }
    }
    return ends;
  }

 private:
  Slice far(std::size_t machine, Bytes size) {
    return builder_.reserve(host_[2 * machine], size, Dtype::kF32);
  }

  OpId add(Op op) {
    op.layer = static_cast<int>(added_.size());  // identifies the op later
    added_.push_back(op.kind);
    return builder_.add(op);
  }

  void message(MachineId source, const Slice& from, MachineId target, const Slice& into) {
    Op send;
    send.machine = source;
    send.kind = OpKind::kSend;
    send.message = builder_.add_message();
    send.peer = target;
    send.from = from;
    add(send);
    Op receive = send;
    receive.machine = target;
    receive.kind = OpKind::kReceive;
    receive.peer = source;
    receive.from = {};
    receive.into = into;
    builder_.add(receive);
  }

  const Cluster& cluster_;
  PlanBuilder builder_{"contention", 4};
  std::vector<BufferId> host_;  // [machine and NUMA node]
  std::vector<BufferId> gpus_;  // [machine]
  std::vector<OpKind> added_;
};

void check(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i] == Approx(expected[i]).epsilon(1e-6));
  }
}

TEST_CASE("one GPU copies at the rate of its link, four at a quarter of their switch's each",
          "[contention]") {
  Traffic one;
  one.copy(one.gpu(0, 40_MB), one.host(0, 40_MB));
  check(one.ends(), {5});
  Traffic four;
  for (int gpu = 0; gpu < 4; ++gpu) four.copy(four.gpu(gpu, 40_MB), four.host(0, 40_MB));
  check(four.ends(), {16, 16, 16, 16});
}

TEST_CASE("what the NIC receives goes up the same link as copies to the host, what it sends does not",
          "[contention]") {
  Traffic receiving;
  for (int gpu = 0; gpu < 4; ++gpu) receiving.copy(receiving.gpu(gpu, 40_MB), receiving.host(0, 40_MB));
  receiving.receive(receiving.host(0, 40_MB), 1);
  check(receiving.ends(), {20, 20, 20, 20, 20});
  Traffic sending;
  for (int gpu = 0; gpu < 4; ++gpu) sending.copy(sending.gpu(gpu, 40_MB), sending.host(0, 40_MB));
  sending.send(sending.host(0, 40_MB), 1);
  check(sending.ends(), {16, 16, 16, 16, 4});
}

// The copies to the host get 2.5 GB/s each. That leaves 5.5 of the first GPU's 8 GB/s for its peer.
TEST_CASE("a copy to a peer takes what is left of its GPU's link", "[contention]") {
  Traffic traffic;
  for (int gpu = 0; gpu < 4; ++gpu) traffic.copy(traffic.gpu(gpu, 40_MB), traffic.host(0, 40_MB));
  traffic.copy(traffic.gpu(0, 55_MB), traffic.gpu(1, 55_MB));
  check(traffic.ends(), {16, 16, 16, 16, 10});
}

// A hop of the ring carries three quarters, 60 MB. Under one switch it runs at 8 GB/s. Between the switches,
// the link between the sockets is the slowest, with 4 GB/s.
TEST_CASE("a ring across switches goes at the pace of its narrowest hop", "[contention]") {
  Traffic inside;
  inside.reduce_scatter({0, 1, 2, 3}, 80_MB);
  check(inside.ends(), {7.5});
  Traffic across;
  across.reduce_scatter({0, 1, 4, 5}, 80_MB);
  check(across.ends(), {15});
  // On the first GPU's link, the rates of ring and copy are in proportion to their bytes, 60 and 100 MB.
  Traffic beside;
  beside.reduce_scatter({0, 1, 2, 3}, 80_MB);
  beside.copy(beside.gpu(0, 100_MB), beside.host(0, 100_MB));
  check(beside.ends(), {20, 20});
}

// As one flow, the ring runs everywhere at 4 GB/s, its rate between the sockets. So it leaves 4 of the 8 GB/s
// of the first GPU's link to the copy. As separate hops, the hop to the second GPU gets three quarters of
// that link, in proportion to 60 and 20 MB. Both then end at 10 ms.
TEST_CASE("a hop of a ring on its own does not wait for the narrowest one", "[contention]") {
  const auto ends = [](Collectives collectives) {
    Traffic traffic;
    traffic.reduce_scatter({0, 1, 4, 5}, 80_MB);
    traffic.copy(traffic.gpu(0, 20_MB), traffic.host(0, 20_MB));
    return traffic.ends(collectives);
  };
  check(ends(Collectives::kMacro), {15, 5});
  check(ends(Collectives::kPerGpu), {15, 10});
}

// A GPU's link has 8 GB/s; the NIC has 12 GB/s for both.
TEST_CASE("two GPUs share the NIC that they send through", "[contention]") {
  Traffic one;
  one.send(one.gpu(0, 48_MB), 1);
  check(one.ends(), {6});
  Traffic two;
  two.send(two.gpu(0, 48_MB), 1);
  two.send(two.gpu(1, 48_MB), 2);
  check(two.ends(), {8, 8});
}

TEST_CASE("a NIC on the far socket is reached over the link between sockets, which copies share",
          "[contention]") {
  Traffic alone;
  alone.send(alone.host(1, 40_MB), 1);
  check(alone.ends(), {10});
  Traffic beside;
  beside.send(beside.host(1, 40_MB), 1);
  beside.copy(beside.gpu(4, 40_MB), beside.host(0, 40_MB));
  check(beside.ends(), {20, 20});
}

TEST_CASE("sums take turns at the rate of their cores, and three bytes of memory for each byte",
          "[contention]") {
  Traffic one(summing());
  one.sum(0, 0, 40_KB);
  check(one.ends(), {5});
  Traffic two(summing());
  two.sum(0, 0, 40_KB);
  two.sum(0, 0, 40_KB, Dtype::kF16);
  two.sum(1, 1, 40_KB);
  check(two.ends(), {5, 13, 5});
  // Memory of 12 MB/s limits sums to 4 MB/s.
  const Cluster slow = cluster_of(R"({"name": "slow", "groups": [{"name": "m", "count": 4, "numa":
    [{"memory_rate": "12MB/s", "sum_rate": "8MB/s"}, {}], "sockets": [{"between": [0, 1]}],
    "nics": [{"at": "numa0", "rate": "12MB/s"}]}]})");
  Traffic bound(slow);
  bound.sum(0, 0, 40_KB);
  check(bound.ends(), {10});
}

// Both at 7.5 MB/s fill the bus: 3 x 7.5 + 7.5 = 30. After the sum, the message gets the NIC's 12 MB/s.
TEST_CASE("a sum and what the NIC receives share the memory's rate", "[contention]") {
  Traffic traffic(summing());
  traffic.sum(0, 0, 30_KB);
  traffic.receive(traffic.host(0, 60_KB), 1);
  check(traffic.ends(), {4, 6.5});
}

// All three at 6 MB/s: 3 x 6 + 6 + 6 = 30. A sum on the other node does not limit the NIC.
TEST_CASE("a sum slows both of the NIC's ways, if it is on its node", "[contention]") {
  Traffic near(summing());
  near.sum(0, 0, 24_KB);
  near.receive(near.host(0, 48_KB), 1);
  near.send(near.host(0, 48_KB), 2);
  check(near.ends(), {4, 6, 6});
  Traffic far(summing());
  far.sum(1, 1, 40_KB);
  far.receive(far.host(0, 48_KB), 1);
  far.send(far.host(0, 48_KB), 2);
  check(far.ends(), {5, 4, 4});
}

// The link between the sockets has 4 MB/s. A copy gets half of that until the sum ends.
TEST_CASE("a sum of what lies at the other socket crosses the link between sockets once", "[contention]") {
  Traffic alone(summing());
  alone.sum(1, 0, 20_KB);
  check(alone.ends(), {5});
  Traffic beside(summing());
  beside.sum(1, 0, 20_KB);
  beside.copy(beside.host(1, 40_KB), beside.host(0, 40_KB));
  check(beside.ends(), {10, 15});
  // The sum takes 8 of the 30 MB/s on its own side, at 4 MB/s. A copy within that memory takes two bytes per
  // byte.
  Traffic full(summing());
  full.sum(1, 0, 20_KB);
  full.copy(full.host(0, 55_KB), full.host(0, 55_KB));
  check(full.ends(), {5, 5});
}

// Three passes take as long as a sum. The parameters of f16 elements are f32.
TEST_CASE("an update moves memory as fast as a sum of single precision does", "[contention]") {
  Traffic sgd(summing());
  sgd.update(0, 24_KB, 3);
  check(sgd.ends(), {3});
  Traffic adam(summing());
  adam.update(0, 24_KB, 7);
  check(adam.ends(), {7});
  Traffic half(summing());
  half.update(0, 24_KB, 7, Dtype::kF16);
  check(half.ends(), {14});
  // Both at 7.5 MB/s; the update passes 56 KB.
  Traffic beside(summing());
  beside.update(0, 24_KB, 7);
  beside.receive(beside.host(0, 56_KB), 1);
  check(beside.ends(), {56 / 7.5, 56 / 7.5});
}

}  // namespace
}  // namespace weir
