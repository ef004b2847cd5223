#include "core/strategies/bound.h"

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

// The bound less the 30 ms of compute, which cannot overlap with anything in a single layer.
Duration exchange(const Cluster& cluster) {
  const Trace trace = one_layer();
  return cluster_bound(cluster, Workload(trace)).time - 30_ms;
}

void check_near(Duration a, Duration b) { CHECK(std::abs((a - b).ns()) <= 2); }

TEST_CASE("a machine alone is bound by its compute") {
  const Trace trace = one_layer();
  const Bound bound = cluster_bound(machines(1, 0), Workload(trace));
  check_near(bound.time, 30_ms);
  CHECK(bound.binding == "compute");
}

TEST_CASE("uniform clusters are bound as Eq. 6 of BytePS says, up to as many CPU machines as workers") {
  // M / B is 10 ms.
  check_near(exchange(machines(8, 0)), 17'500_us);
  check_near(exchange(machines(8, 4)), Duration(10'000'000LL * 2 * 8 * 7 / (64 + 32 - 8)));
  check_near(exchange(machines(8, 8)), 10_ms);
  check_near(exchange(machines(8, 12)), 10_ms);
  check_near(exchange(machines(2, 2)), 10_ms);
}

TEST_CASE("a worker's slow NIC binds all") {
  const Cluster cluster = cluster_of(R"({"name": "slow", "groups": [
    {"name": "gpu", "count": 3, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "9GB/s"}]},
    {"name": "slow", "count": 1, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": {"in": "9GB/s", "out": "3GB/s"}}]}]})");
  check_near(exchange(cluster), 30_ms);
  const Trace trace = one_layer();
  CHECK(cluster_bound(cluster, Workload(trace)).binding == "slow[0].nic0.out");
}

TEST_CASE("a rack's uplink passes the model once") {
  const Cluster cluster = cluster_of(R"({"name": "racks", "groups": [
    {"name": "gpu", "count": 4, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "9GB/s"}]}],
    "network": {"racks": {"size": 2, "uplink": "1GB/s"}}})");
  check_near(exchange(cluster), 90_ms);
}

TEST_CASE("what is exchanged early hides behind compute") {
  // The second layer's 45 MB go while the first computes backward: only the first layer's 45 MB stand alone.
  Trace trace;
  trace.name = "two";
  trace.layers = {{"0", 10_ms, 20_ms, {{"a", 11'250'000, Dtype::kF32}}},
                  {"1", 10_ms, 20_ms, {{"b", 11'250'000, Dtype::kF32}}}};
  const Bound bound = cluster_bound(machines(2, 0), Workload(trace));
  check_near(bound.time, 65_ms);
}

TEST_CASE("a plan's bound counts what the plan moves") {
  // Colocated servers move 2(n-1)/n M, whatever CPU machines there are: 15 ms with four workers.
  const Trace trace = one_layer();
  const Workload workload(trace);
  const Cluster cluster = machines(4, 4);
  const Options options;
  const Result<Plan> plan = strategy_named("colocated-ps").value()->plan(cluster, workload, options);
  REQUIRE(plan);
  const Bound bound = plan_bound(*plan, cluster, workload);
  CHECK((bound.time - 30_ms) / 15_ms == Approx(1.0).epsilon(0.002));
  CHECK(cluster_bound(cluster, workload).time < bound.time);
}

}  // namespace
}  // namespace weir
