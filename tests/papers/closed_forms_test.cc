// All-reduces compared with the closed forms of their time, from 1 KiB to 1 GiB. S bytes are summed by n
// machines, each with one GPU and one NIC of rate B = 10 Gbps in both directions. A message arrives a = 5 us
// after its last byte has left. Nothing else takes time: neither computing nor copies nor sums.
#include <algorithm>
#include <cmath>

#include "core/plan/proof.h"
#include "core/simulate/engines/fluid_engines.h"
#include "core/simulate/simulation.h"
#include "core/strategies/strategy.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

constexpr double kNicRate = 1.25e9;       // B, in bytes per second
constexpr double kMessageLatency = 5e-6;  // a

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kMi = 1024 * kKi;
constexpr std::int64_t kSizes[] = {kKi,     8 * kKi,  64 * kKi,  512 * kKi,
                                   4 * kMi, 32 * kMi, 256 * kMi, 1024 * kMi};

struct AllReduced {
  double seconds = 0.0;
  double buckets = 0.0;  // or chunks, of both trees together
};

// One tensor of this size, summed once. Each bucket or chunk is copied out of a machine's GPU once.
AllReduced all_reduced(const char* name, int machines, std::int64_t bytes) {
  const Cluster cluster = cluster_of(fmt::format(
      R"({{"name": "t", "network": {{"latency": "5us"}}, "groups": [{{"name": "m", "count": {},
          "numa": [{{}}], "gpus": [{{"at": "numa0"}}], "nics": [{{"at": "numa0", "rate": "10Gbps"}}]}}]}})",
      machines));
  Trace trace;
  trace.name = "tensor";
  trace.layers.push_back({"0", Duration(), Duration(), {{"w", bytes / 4, Dtype::kF32}}});
  const Workload workload(trace);
  const Strategy& strategy = **strategy_named(name);
  const Result<Plan> plan = strategy.plan(cluster, workload, {});
  REQUIRE(plan);
  SimulationSettings settings;
  settings.dispatch = dispatch_of(strategy, {});
  const auto engine = fluid_engine(reached_rates(*plan, cluster), 0.0);
  const Result<Record> record = simulate(*plan, cluster, settings, *engine);
  REQUIRE(record);
  AllReduced all_reduced;
  Duration end;
  for (const Op& op : plan->ops()) {
    end = std::max(end, record->of(op.id, 0).completed - Instant());
    const bool out = op.kind == OpKind::kCopy && plan->buffer(op.into.buffer).role == Buffer::Role::kStaging;
    if (out && op.machine == cluster.gpu_machines().front()) ++all_reduced.buckets;
  }
  all_reduced.seconds = end.seconds();
  return all_reduced;
}

void check_close(double seconds, double closed_form, double tolerance) {
  INFO(fmt::format("{:.4f} ms, closed form {:.4f} ms: {:+.2f} %", 1e3 * seconds, 1e3 * closed_form,
                   100 * (seconds / closed_form - 1)));
  CHECK(std::abs(seconds - closed_form) <= tolerance * closed_form);
}

// In each of 2(n-1) steps, every machine sends one of n chunks to the next machine and receives one. If there
// are several buckets, messages of one move while another's are waiting for their latency, and only the last
// message of all is waited for.
TEST_CASE("a ring takes the time of its closed form at all sizes") {
  for (const int n : {4, 16, 64}) {
    for (const std::int64_t bytes : kSizes) {
      INFO(n << " machines, " << bytes << " bytes");
      const AllReduced ring = all_reduced("ring", n, bytes);
      const double latencies = ring.buckets > 1 ? 1 : 2 * (n - 1);
      const double sent = 2 * (n - 1) * static_cast<double>(bytes) / n;
      check_close(ring.seconds, latencies * kMessageLatency + sent / kNicRate, 0.01);
    }
  }
}

// In step i of log2(n), every machine exchanges S/2^i bytes with another; then the steps follow backwards.
// Several buckets hide each other's latency, as in the ring.
TEST_CASE("halving and doubling take the time of their closed form at all sizes") {
  for (const int n : {4, 16, 64}) {
    for (const std::int64_t bytes : kSizes) {
      INFO(n << " machines, " << bytes << " bytes");
      const AllReduced halving = all_reduced("halving-doubling", n, bytes);
      const double latencies = halving.buckets > 1 ? 1 : 2 * std::log2(n);
      const double sent = 2 * (n - 1) * static_cast<double>(bytes) / n;
      check_close(halving.seconds, latencies * kMessageLatency + sent / kNicRate, 0.01);
    }
  }
}

// Two trees of depth d = log2(n). Each sums c chunks of m = S/(2c) bytes and spreads the sums. A turn is m/B.
// An inner machine has two children, whose messages share its NIC: a hop takes two turns, up and down. Only
// roots have a single child. So the first sum is everywhere after 2d latencies and 2(2d-1) turns. Before sums
// come back, chunks follow each other at a distance of two turns:
//
//     T ~ 2da + (2(2d-1) + 2(c-1)) m/B.
//
// Then a NIC has four turns for each chunk: two from children, one from the parent, and one in the tree in
// which the machine is a leaf. The child of a root waits d-2 hops for the first sums, then has 4c turns, and
// its last sums go down as many hops:
//
//     T ~ 2da + (2(d-2) + 4c + 2(d-2)) m/B = 2da + 2S/B + 4(d-2) m/B.
//
// Both take one phase to last for the whole exchange; the larger is the closed form. A single chunk uses one
// tree: c = 1, m = S. Four machines form two paths of depth 2 instead, in which a NIC has three turns for
// each chunk, and the first one takes five:
//
//     T = 2da + (5 + 3(c-1)) m/B,
//
// less one latency if there are several chunks: the next one arrives meanwhile.
double double_tree_form(int machines, double chunks, double bytes) {
  const double depth = std::log2(machines);
  const double each = std::ceil(chunks / 2);
  const double turn = bytes / chunks / kNicRate;
  const double turns = machines == 4
                           ? 5 + 3 * (each - 1)
                           : std::max(2 * (2 * depth - 1) + 2 * (each - 1), 4 * each + 4 * (depth - 2));
  const double latencies = machines == 4 && each > 1 ? 3 : 2 * depth;
  return latencies * kMessageLatency + turns * turn;
}

// 64 machines have trees of 12 hops up and down. With 5 and 14 chunks a tree, the last chunk is still on its
// way up when the first sums come down. So NICs have four turns for only some of the chunks, and the time is
// 3.0 and 1.3 % less than the form.
double double_tree_tolerance(int machines, std::int64_t bytes) {
  if (machines == 64 && bytes == 64 * kKi) return 0.031;
  if (machines == 64 && bytes == 512 * kKi) return 0.014;
  return 0.01;
}

TEST_CASE("double trees take the time of their closed form at all sizes") {
  for (const int n : {4, 16, 64}) {
    for (const std::int64_t bytes : kSizes) {
      INFO(n << " machines, " << bytes << " bytes");
      const AllReduced trees = all_reduced("double-tree", n, bytes);
      const double form = double_tree_form(n, trees.buckets, static_cast<double>(bytes));
      check_close(trees.seconds, form, double_tree_tolerance(n, bytes));
    }
  }
}

// The form takes the number of chunks from the plan, so it says nothing of how well they were chosen. 2S/B is
// 1.68, 26.8 and 1718 ms here.
TEST_CASE("double trees choose chunks that keep them close to the bandwidth") {
  CHECK(all_reduced("double-tree", 16, kMi).seconds < 2.0e-3);
  CHECK(all_reduced("double-tree", 16, 16 * kMi).seconds < 28.5e-3);
  for (const int n : {16, 64}) {
    const double bytes = 1024.0 * static_cast<double>(kMi);
    CHECK(all_reduced("double-tree", n, 1024 * kMi).seconds < 1.007 * 2 * bytes / kNicRate);
  }
}

}  // namespace
}  // namespace weir
