// Hunts for runs that beat their bounds: random clusters, models and options, every strategy, the first
// iteration and every stretch of later ones.
//
// `weir_bound_tests "[hunt]"` tries many more cases.
#include <algorithm>
#include <vector>

#include "core/analysis/bound.h"
#include "core/cluster/topology_file.h"
#include "core/report/report.h"
#include "core/simulate/engines/fluid_engines.h"
#include "core/simulate/simulation.h"
#include "core/strategies/strategy.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"
#include "tests/property/random_case.h"

namespace weir {
namespace {

using property::Case;

constexpr int kIterations = 9;

// Random cases seldom have machines that differ as much as drifting apart takes.
void make_unlike(Topology& topology, std::uint64_t seed) {
  for (std::size_t i = 0; i < topology.groups.size(); ++i) {
    const auto divisor = std::int64_t{1} << (seed * (2 * i + 1) / 8 % 7);
    for (NicSpec& nic : topology.groups[i].nics) {
      BytesPerSecond& rate = (seed + i) % 2 == 0 ? nic.rate.in : nic.rate.out;
      if (rate.limited()) rate = BytesPerSecond(std::max<std::int64_t>(rate.value() / divisor, 1'000'000));
    }
  }
}

Case hunted_case(std::uint64_t seed) {
  Case hunted = property::random_case(seed);
  if (seed % 3 != 0) make_unlike(hunted.topology, seed);
  hunted.options.policy = seed % 2 == 0 ? Policy::kFifo : Policy::kPriority;
  hunted.options.barrier = seed / 2 % 2 == 0;
  hunted.options.overlap = seed / 4 % 4 != 0;
  hunted.options.independent_layers = false;  // bounds take layers to follow one another (bound.h)
  return hunted;
}

// When iterations end. The first begins at 0.
std::vector<Duration> ends_of(const Plan& plan, const Record& record) {
  std::vector<Duration> ends = {Duration(0)};
  for (int i = 0; i < kIterations; ++i) ends.push_back(end_of(plan, record, i) - Instant(0));
  return ends;
}

struct Bounded {
  const Plan& plan;
  const Cluster& cluster;
  const WorkTable& works;
  const Workload& workload;

  std::vector<std::pair<const char*, Bound>> bounds(const Stretch& stretch) const {
    return {{"any plan", cluster_bound(cluster, workload, stretch)},
            {"this plan", plan_bound(plan, cluster, works, workload, stretch)}};
  }

  // Instants are rounded to nanoseconds.
  void check(const Stretch& stretch, Duration took, int iterations) const {
    for (const auto& [whose, bound] : bounds(stretch)) {
      INFO(fmt::format("bound of {} for {} iterations after {}: {}", whose, stretch.iterations,
                       stretch.warm_up, bound.binding));
      CHECK(took.ns() + 1 + took.ns() / 10'000'000 >= bound.time.ns() * iterations);
    }
  }
};

// Checks all stretches of a run of this plan. Returns whether a later iteration was shorter than the bound of
// the first.
bool checked(const Plan& plan, const Cluster& cluster, const Workload& workload, const Dispatch& dispatch) {
  const WorkTable works(plan, cluster);
  SimulationSettings settings;
  settings.dispatch = dispatch;
  settings.iterations = kIterations;
  const auto engine = fluid_engine(reached_rates(plan, cluster), 0.0);
  const Result<Record> record = simulate(plan, cluster, settings, *engine);
  REQUIRE(record);
  const std::vector<Duration> ends = ends_of(plan, *record);
  const Bounded bounded{plan, cluster, works, workload};
  bounded.check(Stretch::first(), ends[1], 1);
  // What no endless run can beat, no run from the start on can.
  bounded.check(Stretch::steady(), ends.back(), kIterations);
  bounded.check({0, kIterations}, ends.back(), kIterations);
  bool shorter = false;
  for (int length = 1; length < kIterations; ++length) {
    Duration least = ends.back();
    for (std::size_t end = static_cast<std::size_t>(length) + 1; end < ends.size(); ++end)
      least = std::min(least, ends[end] - ends[end - static_cast<std::size_t>(length)]);
    bounded.check({1, length}, least, length);
    if (length == 1) shorter = least < plan_bound(plan, cluster, works, workload, Stretch::first()).time;
  }
  return shorter;
}

// Returns how many runs had a later iteration that was shorter than the bound of their first.
int hunt(std::uint64_t from, std::uint64_t until) {
  int beaten = 0;
  for (std::uint64_t seed = from; seed < until; ++seed) {
    const Case random = hunted_case(seed);
    REQUIRE(check_topology(random.topology));
    const Cluster cluster(random.topology);
    const Workload workload(random.trace);
    for (const Strategy& strategy : strategies()) {
      INFO(property::text(random));
      INFO(strategy.name);
      const Case tried = property::case_for(random, strategy.name);
      const Result<Plan> plan = strategy.plan(cluster, workload, tried.options);
      if (!plan) continue;
      beaten += checked(*plan, cluster, workload, dispatch_of(strategy, tried.options)) ? 1 : 0;
    }
  }
  return beaten;
}

TEST_CASE("no iteration and no stretch of iterations is shorter than its bounds", "[property]") {
  CHECK(hunt(0, 60) > 20);  // so there is something to find
}

// One machine sends 30 times as slowly as the other. It need not wait until its gradient has left: the other
// then ends the iteration, while this one already computes the next.
TEST_CASE("iterations of unlike machines overlap, and take no less than their cycle") {
  const Cluster cluster = cluster_of(R"({"name": "unlike", "groups": [
    {"name": "a", "count": 1, "gpus": [{"at": "numa0"}],
     "nics": [{"at": "numa0", "rate": {"in": "2GB/s", "out": "40MB/s"}}]},
    {"name": "b", "count": 1, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "1.2GB/s"}]}]})");
  Trace trace;
  trace.name = "short";
  trace.layers = {{"0", Duration(1'000'000), Duration(2'000'000), {{"w", 2'500, Dtype::kF32}}}};
  const Workload workload(trace);
  for (const char* name : {"unified", "colocated-ps", "mxnet-ps"}) {
    INFO(name);
    const Strategy& strategy = **strategy_named(name);
    Options options;
    options.credit.reset();
    options.policy = Policy::kFifo;
    const Result<Plan> plan = strategy.plan(cluster, workload, options);
    REQUIRE(plan);
    checked(*plan, cluster, workload, dispatch_of(strategy, options));
  }
  // 10 kB out of `a` take 250 us, and 8.3 us out of `b`: 129 us on average.
  CHECK(cluster_bound(cluster, workload, Stretch::first()).time == Duration(3'250'000));
  CHECK(cluster_bound(cluster, workload, Stretch::steady()).time == Duration(3'129'166));
  CHECK(cluster_bound(cluster, workload, {1, 1}).time == Duration(3'008'333));
}

TEST_CASE("thousands of runs do not beat their bounds", "[.][hunt]") { CHECK(hunt(60, 6000) > 50); }

}  // namespace
}  // namespace weir
