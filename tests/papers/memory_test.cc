// The cost of parts in host memory and of the work on them there. One worker and one parameter server, worked
// out by hand, on SimGrid and on the toy engine. A kilobyte at 1 MB/s takes a millisecond.
#include "backends/sim/world.h"
#include "core/analysis/bound.h"
#include "core/plan/proof.h"
#include "core/strategies/strategy.h"
#include "tests/catch.h"
#include "tests/core/cluster/links.h"
#include "tests/toy/world.h"

namespace weir {
namespace {

using namespace weir::literals;

//   gpu0 --- numa0 --- nic0 --10-- nic0 --- numa0 --4-- numa1, each of which moves 90 MB/s and sums 15
Cluster memory_cluster() {
  return cluster_of(R"({"name": "two sockets", "groups": [
    {"name": "gpu", "count": 1, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "10MB/s"}]},
    {"name": "cpu", "count": 1, "numa": [{"memory_rate": "90MB/s", "sum_rate": "15MB/s"},
                                         {"memory_rate": "90MB/s", "sum_rate": "15MB/s"}],
     "sockets": [{"between": [0, 1], "rate": "4MB/s"}], "nics": [{"at": "numa0", "rate": "10MB/s"}]}]})");
}

Trace trace(std::int64_t elements) {
  Trace trace;
  trace.name = "one layer";
  trace.layers = {{"layer", Duration(0), Duration(0), {{"weight", elements, Dtype::kF32}}}};
  return trace;
}

struct MemoryOutcome {
  double ms = 0.0;
  double bound = 0.0;  // ms
  Bytes over_socket;   // in each direction
};

// The result for 90 KB in parts of this size.
MemoryOutcome outcome(Bytes part, NumaPlacement numa, Optimizer optimizer, int update_passes = 0) {
  const Cluster machines = memory_cluster();
  const Trace model = trace(22'500);
  const Workload workload(model);
  Options options;
  options.partition_size = options.finest_part = part;
  options.numa = numa;
  options.optimizer = optimizer;
  options.update_passes = update_passes;
  const Strategy& ps = **strategy_named("ps");
  const Result<Plan> plan = ps.plan(machines, workload, options);
  REQUIRE(plan);
  const Result<Proof> proof = prove(*plan, machines, workload);
  INFO((proof ? std::string() : proof.error().text));
  REQUIRE(proof);
  const SimulationSettings settings{dispatch_of(ps, options), {}, 1};
  const auto end = [&](const Record& record) {
    Instant last;
    for (const Op& op : plan->ops()) last = std::max(last, record.of(op.id, 0).completed);
    return (last - Instant()).seconds() * 1e3;
  };
  const auto simgrid = sim::simulate(*plan, machines, settings);
  REQUIRE(simgrid);
  const auto toy = toy::run(*plan, machines, settings);
  REQUIRE(toy);
  CHECK(toy->wrong.empty());
  CHECK(end(toy->record) == Approx(end(*simgrid)).epsilon(1e-6));
  MemoryOutcome result{
      end(*simgrid), plan_bound(*plan, machines, workload, Stretch::first()).time.seconds() * 1e3, {}};
  const std::vector<Bytes> loads = link_loads(*plan, machines, WorkTable(*plan, machines));
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (machines.links()[i].kind == Link::Kind::kSocket) result.over_socket += loads[i];
  }
  CHECK(result.bound <= result.ms * (1 + 1e-6));
  return result;
}

void check(const MemoryOutcome& found, double ms, Bytes over_socket) {
  CHECK(found.ms == Approx(ms).epsilon(1e-6));
  CHECK(found.over_socket == over_socket);
}

TEST_CASE("buffers at the other socket are reached at the pace of the link between sockets", "[memory]") {
  // To the server and back at 10 MB/s, or at 4 MB/s.
  check(outcome(90_KB, NumaPlacement::kNic, Optimizer::kNone), 18, 0_B);
  check(outcome(90_KB, NumaPlacement::kFar, Optimizer::kNone), 45, 180_KB);
  // One of two parts is far: 4.5 ms and then 11.25 ms to the server, and 11.25 ms back for the second.
  check(outcome(45_KB, NumaPlacement::kSpread, Optimizer::kNone), 27, 90_KB);
}

TEST_CASE("a server updates a part before it sends it back", "[memory]") {
  // 3, 5, 5 or 7 passes over 90 KB at 45 MB/s, between 9 ms to the server and 9 ms back.
  check(outcome(90_KB, NumaPlacement::kNic, Optimizer::kSgd), 18 + 6, 0_B);
  check(outcome(90_KB, NumaPlacement::kNic, Optimizer::kMomentum), 18 + 10, 0_B);
  check(outcome(90_KB, NumaPlacement::kNic, Optimizer::kRmsprop), 18 + 10, 0_B);
  check(outcome(90_KB, NumaPlacement::kNic, Optimizer::kAdam), 18 + 14, 0_B);
  // An update as long as 20 passes. Without an optimizer there is no update.
  check(outcome(90_KB, NumaPlacement::kNic, Optimizer::kSgd, 20), 18 + 40, 0_B);
  check(outcome(90_KB, NumaPlacement::kNic, Optimizer::kNone, 20), 18, 0_B);
  // Four parts, each 2.25 ms to the server and back. Their updates take 3.5 ms each and run one after
  // another.
  check(outcome(Bytes(22'500), NumaPlacement::kNic, Optimizer::kAdam), 2.25 + 4 * 3.5 + 2.25, 0_B);
}

TEST_CASE("strategies that are no parameter servers refuse an optimizer", "[memory]") {
  const Cluster machines = memory_cluster();
  const Trace model = trace(1000);
  const Workload workload(model);
  Options options;
  options.optimizer = Optimizer::kAdam;
  for (const Strategy& strategy : strategies()) {
    const Result<Plan> plan = strategy.plan(machines, workload, options);
    const bool server = strategy.kind == StrategyKind::kServers;
    INFO(strategy.name);
    CHECK(plan.has_value() == server);
    if (!server) CHECK(plan.error().text.find("'optimizer' is for ps") != std::string::npos);
  }
}

}  // namespace
}  // namespace weir
