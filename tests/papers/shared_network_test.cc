// Several jobs that share a network. Worked out by hand, on SimGrid and on Weir's own engine. A megabyte at 1
// GB/s takes a millisecond.
#include "backends/sim/world.h"
#include "core/plan/proof.h"
#include "core/report/report.h"
#include "core/simulate/engines/fluid_engine.h"
#include "core/strategies/strategy.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"

namespace weir {
namespace {

using namespace weir::literals;

//   gpu[0], gpu[1] --- rack[0] --1 GB/s-- rack[1] --- gpu[2], gpu[3], with NICs of 10 GB/s
constexpr const char* kRacks = R"({"name": "racks", "groups": [
    {"name": "gpu", "count": 4, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "10GB/s"}]}],
    "network": {"racks": {"size": 2, "uplink": "1GB/s"}}})";

// 100 MB in one layer: backward takes 10 ms, forward 5.
Trace one_layer() {
  Trace trace;
  trace.name = "one layer";
  trace.layers = {{"layer", 5_ms, 10_ms, {{"weight", 25'000'000, Dtype::kF32}}}};
  return trace;
}

Options whole_buckets() {
  Options options;
  options.partition_size = options.finest_part = options.fusion_size = 1_GB;
  return options;
}

// Jobs with one strategy on a cluster. Each uses some of its machines.
class Jobs {
 public:
  Jobs(const Cluster& cluster, const char* strategy)
      : cluster_(cluster), strategy_(**strategy_named(strategy)) {}

  void add(const std::vector<std::string>& machines, Duration start = {}) {
    subclusters_.push_back(std::make_unique<Subcluster>(cluster_, machines_named(machines, cluster_)));
    const Subcluster& subcluster = *subclusters_.back();
    auto plan = strategy_.plan(subcluster.cluster, workload_, options_);
    REQUIRE(plan);
    REQUIRE(prove(*plan, subcluster.cluster, workload_));
    plans_.push_back(std::make_unique<Plan>(std::move(*plan)));
    jobs_.push_back({*plans_.back(), subcluster, dispatch_of(strategy_, options_), {}, start});
  }

  struct Ends {
    std::vector<double> first;   // ms, iterations of the first job
    std::vector<double> second;  // and of the second job, if any
  };

  // The ends of iterations; both worlds must agree.
  Ends ends(int iterations, const Conditions& conditions = {}) {
    const auto simgrid = sim::simulate(cluster_, jobs_, iterations, conditions);
    REQUIRE(simgrid);
    const auto fluid = run_fluid(iterations, conditions);
    const auto again = run_fluid(iterations, conditions);
    CHECK(fluid.record == again.record);
    CHECK(fluid.ends == again.ends);
    Ends ends = ends_of(*simgrid, iterations);
    const Ends other = ends_of(fluid, iterations);
    CHECK_THAT(ends.first, Catch::Matchers::Approx(other.first).epsilon(1e-6));
    CHECK_THAT(ends.second, Catch::Matchers::Approx(other.second).epsilon(1e-6));
    return ends;
  }

 private:
  SharedRun run_fluid(int iterations, const Conditions& conditions) {
    FluidEngine engine(reached_rates(cluster_, jobs_));
    auto run = simulate(cluster_, jobs_, iterations, conditions, engine);
    REQUIRE(run);
    return std::move(*run);
  }

  Ends ends_of(const SharedRun& run, int iterations) {
    const auto ms = [](Instant at) { return (at - Instant()).seconds() * 1e3; };
    Ends ends;
    for (int i = 0; i < iterations; ++i) ends.first.push_back(ms(end_of(*plans_[0], run.record, i)));
    for (std::size_t i = 0; i < run.ends.size() && i < 1; ++i) {
      for (const Instant end : run.ends[i]) ends.second.push_back(ms(end));
    }
    return ends;
  }

  const Cluster& cluster_;
  const Strategy& strategy_;
  Trace trace_ = one_layer();
  Workload workload_{trace_};
  Options options_ = whole_buckets();
  std::vector<std::unique_ptr<Subcluster>> subclusters_;
  std::vector<std::unique_ptr<Plan>> plans_;
  std::vector<Job> jobs_;
};

void check_ends(const std::vector<double>& found, const std::vector<double>& expected) {
  CHECK_THAT(found, Catch::Matchers::Approx(expected).epsilon(1e-6));
}

// Each machine of a ring of two sends half of the model twice.
TEST_CASE("a job alone behind uplinks takes what its bytes take", "[shared]") {
  const Cluster cluster = cluster_of(kRacks);
  Jobs jobs(cluster, "ring");
  jobs.add({"gpu[0]", "gpu[2]"});
  check_ends(jobs.ends(2).first, {115, 230});
}

TEST_CASE("two jobs over the same uplinks have half of them each", "[shared]") {
  const Cluster cluster = cluster_of(kRacks);
  Jobs jobs(cluster, "ring");
  jobs.add({"gpu[0]", "gpu[2]"});
  jobs.add({"gpu[1]", "gpu[3]"});
  const auto ends = jobs.ends(3);
  check_ends(ends.first, {215, 430, 645});
  REQUIRE(ends.second.size() >= 2);
  CHECK(ends.second[1] == Approx(430).epsilon(1e-6));
}

// The first job has the uplinks to itself from 10 ms to 65 ms, when the second job's first backward ends. Of
// the 50 MB of the first job's second step, 45 MB share the uplinks with the second job's first step. At 155
// ms, 5 MB of the second job's step are left, and so on.
TEST_CASE("a job that starts later takes its share from then on", "[shared]") {
  const Cluster cluster = cluster_of(kRacks);
  Jobs jobs(cluster, "ring");
  jobs.add({"gpu[0]", "gpu[2]"});
  jobs.add({"gpu[1]", "gpu[3]"}, 55_ms);
  const auto ends = jobs.ends(2);
  check_ends(ends.first, {160, 360});
  check_ends(ends.second, {255});
}

TEST_CASE("jobs in racks of their own do not slow each other", "[shared]") {
  const Cluster cluster = cluster_of(kRacks);
  Jobs jobs(cluster, "ring");
  jobs.add({"gpu[0]", "gpu[1]"});
  jobs.add({"gpu[2]", "gpu[3]"});
  const auto ends = jobs.ends(3);
  check_ends(ends.first, {25, 50, 75});
  REQUIRE(ends.second.size() >= 2);
  CHECK(ends.second[1] == Approx(50).epsilon(1e-6));
}

TEST_CASE("conditions on links and machines count for all jobs", "[shared]") {
  const Cluster cluster = cluster_of(kRacks);
  Jobs jobs(cluster, "ring");
  jobs.add({"gpu[0]", "gpu[2]"});
  jobs.add({"gpu[1]", "gpu[3]"});
  Conditions conditions;
  conditions.links = {{"rack[0].up", 0.5, {}}};
  check_ends(jobs.ends(1, conditions).first, {415});
  conditions.links = {{"gpu[3].nic0.in", 0.0, {30_ms, 1_s, {}}}};  // one direction of the second job
  check_ends(jobs.ends(1, conditions).first, {10 + 20 + 80 + 50 + 5});
  conditions.links.clear();
  conditions.stragglers = {{"gpu[1]", 9.0, 0.0},
                           {"gpu[3]", 9.0, 0.0}};  // the second job's backward ends at 90 ms
  check_ends(jobs.ends(1, conditions).first, {90 + 2 * (100 - 80) + 5});
}

// Two jobs that run in step each get half of a shared CPU machine.
TEST_CASE("jobs that share a CPU machine share its NIC, its memory and the cores that sum", "[shared]") {
  const auto servers = [](const char* nic, const char* memory, const char* sums) {
    return cluster_of(fmt::format(R"({{"name": "servers", "groups": [
      {{"name": "gpu", "count": 4, "gpus": [{{"at": "numa0"}}], "nics": [{{"at": "numa0", "rate": "2GB/s"}}]}},
      {{"name": "cpu", "count": 1, "numa": [{{"memory_rate": "{}", "sum_rate": "{}"}}],
       "nics": [{{"at": "numa0", "rate": "{}"}}]}}]}})",
                                  memory, sums, nic));
  };
  const Cluster whole = servers("2GB/s", "9GB/s", "4GB/s");
  const Cluster half = servers("1GB/s", "4.5GB/s", "2GB/s");
  Jobs both(whole, "ps");
  both.add({"gpu[0]", "gpu[1]", "cpu[*]"});
  both.add({"gpu[2]", "gpu[3]", "cpu[*]"});
  Jobs one(half, "ps");
  one.add({"gpu[0]", "gpu[1]", "cpu[*]"});
  const auto alone = one.ends(2).first;
  CHECK(alone[0] > 15 + 200 + 200 + 50);  // both pushes, a sum, both pulls
  check_ends(both.ends(2).first, alone);
}

}  // namespace
}  // namespace weir
