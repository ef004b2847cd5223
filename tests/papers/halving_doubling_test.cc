// Recursive halving and doubling on any number of machines, compared with its textbook time.
#include <cmath>
#include <numeric>

#include "backends/sim/world.h"
#include "core/plan/proof.h"
#include "core/strategies/strategy.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"
#include "tests/toy/world.h"

namespace weir {
namespace {

using namespace weir::literals;

constexpr double kRate = 1e9;       // bytes per second in each direction
constexpr double kLatency = 20e-6;  // of one message

const Strategy& halving_doubling() { return **strategy_named("halving-doubling"); }

// Machines with one GPU. Only NICs take time.
Cluster machines(int count) {
  return cluster_of(fmt::format(
      R"({{"name": "t", "network": {{"latency": "20us"}}, "groups": [{{"name": "m", "count": {},
          "numa": [{{}}], "gpus": [{{"at": "numa0"}}], "nics": [{{"at": "numa0", "rate": "1GB/s"}}]}}]}})",
      count));
}

// One tensor in each layer, and no computation.
Trace tensors(const std::vector<std::int64_t>& elements) {
  Trace trace;
  trace.name = "tensors";
  for (const std::int64_t count : elements) {
    trace.layers.push_back({fmt::format("{}", trace.layers.size()), 0_ms, 0_ms, {{"w", count, Dtype::kF32}}});
  }
  return trace;
}

SimulationSettings settings(const Options& options, int iterations) {
  SimulationSettings settings;
  settings.dispatch = dispatch_of(halving_doubling(), options);
  settings.iterations = iterations;
  return settings;
}

Plan planned(const Cluster& cluster, const Workload& workload, const Options& options = {}) {
  const Result<Plan> plan = halving_doubling().plan(cluster, workload, options);
  REQUIRE(plan);
  const Result<Proof> proof = prove(*plan, cluster, workload);
  INFO((proof ? std::string() : proof.error().text));
  REQUIRE(proof);
  return *plan;
}

double seconds(const Plan& plan, const Cluster& cluster) {
  const Result<Record> record = sim::simulate(plan, cluster, settings({}, 1));
  REQUIRE(record);
  Duration end;
  for (const Op& op : plan.ops()) end = std::max(end, record->of(op.id, 0).completed - Instant());
  return end.seconds();
}

TEST_CASE("halving and doubling take the textbook's time on any number of machines") {
  // One bucket of 32 MB, and one so small that most of the time is latency.
  for (const std::int64_t elements : {std::int64_t{8'000'000}, std::int64_t{64'000}}) {
    const Trace trace = tensors({elements});
    const Workload workload(trace);
    for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 32, 48, 64, 100}) {
      INFO(n << " machines, " << elements << " elements");
      const Cluster cluster = machines(n);
      const double bytes = 4.0 * static_cast<double>(elements);
      const double expected = 2 * std::ceil(std::log2(n)) * kLatency + 2 * (n - 1) * bytes / n / kRate;
      CHECK(std::abs(seconds(planned(cluster, workload), cluster) - expected) <= 0.01 * expected);
    }
  }
}

TEST_CASE("halving and doubling keep NICs busy with several buckets") {
  constexpr std::int64_t kMillion = 1'000'000;
  const std::vector<std::int64_t> equal(8, 8 * kMillion);
  const std::vector<std::int64_t> small(40, kMillion);
  const std::vector<std::int64_t> unlike{100 * kMillion, 8 * kMillion, 8 * kMillion};
  for (const auto& elements : {equal, small, unlike}) {
    const Trace trace = tensors(elements);
    const Workload workload(trace);
    const double bytes = 4.0 * std::accumulate(elements.begin(), elements.end(), 0.0);
    for (const int n : {3, 4, 5, 6, 7, 8, 12, 64}) {
      INFO(n << " machines, " << elements.size() << " tensors");
      const Cluster cluster = machines(n);
      const double expected = 2 * (n - 1) * bytes / n / kRate;
      CHECK(std::abs(seconds(planned(cluster, workload), cluster) - expected) <= 0.01 * expected);
    }
  }
}

TEST_CASE("halving and doubling send the fewest bytes, the most of them to a neighbour") {
  const Trace trace = tensors({960'000});
  const Workload workload(trace);
  for (const int n : {2, 3, 4, 6, 8, 12, 16, 24, 64}) {
    INFO(n << " machines");
    const Cluster cluster = machines(n);
    const Plan plan = planned(cluster, workload);
    for (const MachineId machine : cluster.gpu_machines()) {
      Bytes sent;
      Bytes received;
      Bytes near;
      for (const Op& op : plan.ops(machine)) {
        if (op.kind == OpKind::kReceive) received += op.into.size;
        if (op.kind != OpKind::kSend) continue;
        sent += op.from.size;
        if (op.peer.index() == (machine.index() ^ 1U)) near += op.from.size;
      }
      CHECK(sent == Bytes(2 * (n - 1) * 4 * 960'000 / n));
      CHECK(received == sent);
      if (n % 2 == 0) CHECK(near == 4 * 960'000_B);
    }
  }
}

TEST_CASE("halving and doubling come to the sum in every element, however many there are") {
  // Fewer elements than machines, odd numbers of elements, and more buckets than have memory to land in.
  const Trace trace = tensors({1, 5, 1'001, 70, 20'000, 3, 640});
  const Workload workload(trace);
  for (int n = 1; n <= 20; ++n) {
    for (const bool apart : {false, true}) {
      INFO(n << " machines" << (apart ? ", layers apart" : ""));
      const Cluster cluster = machines(n);
      Options options;
      options.fusion_size = 9_KB;
      options.independent_layers = apart;
      const Plan plan = planned(cluster, workload, options);
      const Result<toy::ToyRun> run = toy::run(plan, cluster, settings(options, 3));
      REQUIRE(run);
      CHECK(run->wrong.empty());
      CHECK(run->checked == static_cast<std::size_t>(n * 3 * 2 * (1 + 5 + 1'001 + 70 + 20'000 + 3 + 640)));
    }
  }
  for (const int n : {64, 100}) {
    INFO(n << " machines");
    const Cluster cluster = machines(n);
    const Plan plan = planned(cluster, workload);
    const Result<toy::ToyRun> run = toy::run(plan, cluster, settings({}, 2));
    REQUIRE(run);
    CHECK(run->wrong.empty());
  }
}

}  // namespace
}  // namespace weir
