// Tests the proof with broken plans: it must reject every plan that is wrong in some order of events.
#include "tests/fuzz/mutant.h"

#include <functional>
#include <map>

#include "core/plan/proof.h"
#include "core/strategies/strategy.h"
#include "tests/catch.h"
#include "tests/fuzz/random_order.h"
#include "tests/property/random_case.h"

namespace weir {
namespace {

using fuzz::Mutation;

#ifdef WEIR_MANY_CASES  // by CMAKE_CXX_FLAGS, for a long look
constexpr std::uint64_t kPlans = 300;
#else
constexpr std::uint64_t kPlans = 10;
#endif
constexpr int kOrders = 6;             // number of random orders in which to run an accepted plan
constexpr std::size_t kLargest = 800;  // ops

struct Accepted {
  const property::Case& random;
  const Cluster& cluster;
  const Workload& workload;
  const Strategy& strategy;
  const Plan& plan;

  Result<Proof> proof_of(const Plan& other) const { return prove(other, cluster, workload); }
};

void for_small_plans(const std::function<void(const Accepted& planned, Random random)>& check) {
  for (std::uint64_t seed = 0; seed < kPlans; ++seed) {
    const property::Case random = property::random_case(seed);
    INFO(property::text(random));
    const Cluster cluster(random.topology);
    const Workload workload(random.trace);
    for (const Strategy& strategy : strategies()) {
      INFO(strategy.name);
      const property::Case tried = property::case_for(random, strategy.name);
      const Result<Plan> plan = strategy.plan(cluster, workload, tried.options);
      if (plan && plan->ops().size() <= kLargest)
        check({tried, cluster, workload, strategy, *plan}, Random(seed));
    }
  }
}

TEST_CASE("proved plans are right in any order of events", "[fuzz]") {
  for_small_plans([](const Accepted& planned, Random random) {
    for (std::uint64_t order = 0; order < 3; ++order) {
      CHECK_THAT(fuzz::run_in_random_order(planned.plan, 3, random.split(order)),
                 Catch::Matchers::Equals(""));
    }
  });
}

TEST_CASE("the proof accepts no mutant that is wrong in some order of events", "[fuzz]") {
  std::map<Mutation, int> made;
  std::map<Mutation, int> rejected;
  for_small_plans([&](const Accepted& planned, Random random) {
    for (const Mutation mutation : fuzz::kMutations) {
      for (std::uint64_t i = 0; i < 2; ++i) {
        const Random own = random.split(static_cast<std::uint64_t>(mutation) * 16 + i);
        const std::optional<Plan> mutant = fuzz::mutant(planned.plan, mutation, own);
        if (!mutant) continue;
        ++made[mutation];
        if (!planned.proof_of(*mutant)) {
          ++rejected[mutation];
          continue;
        }
        INFO(name(mutation));
        for (std::uint64_t order = 0; order < kOrders; ++order) {
          CHECK_THAT(fuzz::run_in_random_order(*mutant, 3, own.split(order)), Catch::Matchers::Equals(""));
        }
      }
    }
  });
  // The canary. Some dropped edges are implied by others, and some slices may be elsewhere. But lost and
  // doubled bytes are always an error.
  const auto percent = [&](Mutation mutation) {
    return 100 * rejected[mutation] / std::max(1, made[mutation]);
  };
  for (const Mutation mutation : fuzz::kMutations) {
    INFO(name(mutation) << ": " << rejected[mutation] << " of " << made[mutation] << " rejected");
    CHECK(made[mutation] > 5);  // all-reduces are fewest: only one strategy has them
    CHECK(percent(mutation) >= 40);
  }
  CHECK(percent(Mutation::kDropReceive) == 100);
  CHECK(percent(Mutation::kDropAllReduce) == 100);
  CHECK(percent(Mutation::kDuplicateSum) == 100);
  CHECK(percent(Mutation::kWrongNic) == 100);
}

// A faulty strategy might overlook the GPUs of a machine or the last layer of the model.
TEST_CASE("the proof rejects plans that forget a machine or a layer", "[fuzz]") {
  int machines = 0;
  int layers = 0;
  for_small_plans([&](const Accepted& planned, Random) {
    Topology topology = planned.random.topology;
    GroupSpec& last = topology.groups.back();
    topology.groups.push_back(last);
    topology.groups.back().count = 1;
    topology.groups[topology.groups.size() - 2].count -= 1;
    GroupSpec& forgotten = topology.groups.back();
    if (!forgotten.gpus.empty()) {
      forgotten.gpus.clear();
      forgotten.nvlink.reset();
      const Cluster cluster(topology);
      if (!cluster.gpu_machines().empty()) {
        const auto plan = planned.strategy.plan(cluster, planned.workload, planned.random.options);
        if (plan) {
          CHECK_FALSE(planned.proof_of(*plan));
          ++machines;
        }
      }
    }
    Trace trace = planned.random.trace;
    trace.layers.pop_back();
    if (trace.layers.empty()) return;
    const Workload workload(trace);
    const auto plan = planned.strategy.plan(planned.cluster, workload, planned.random.options);
    if (!plan) return;
    CHECK_FALSE(planned.proof_of(*plan));
    ++layers;
  });
  CHECK(machines > 3);
  CHECK(layers > 10);
}

// A likely bug: a server overwrites a sum with the gradients of the next iteration while it is still sending.
TEST_CASE("a sum that the next iteration overwrites too early is found, by the proof and by running",
          "[fuzz]") {
  Topology topology;
  topology.name = "three workers, one server";
  GroupSpec worker;
  worker.name = "gpu";
  worker.count = 3;
  worker.gpus = {{.at = "numa0"}};
  worker.nics = {{.at = "numa0", .rate = {BytesPerSecond(1'000'000'000), BytesPerSecond(1'000'000'000)}}};
  GroupSpec server = worker;
  server.name = "cpu";
  server.count = 1;
  server.gpus.clear();
  topology.groups = {worker, server};
  const Cluster cluster(topology);
  Trace trace;
  trace.name = "one layer";
  trace.layers = {{"0", Duration(1000), Duration(1000), {{"w", 100, Dtype::kF32}}}};
  const Workload workload(trace);
  const Result<Plan> plan = strategy_named("ps").value()->plan(cluster, workload, Options{});
  REQUIRE(plan);
  REQUIRE(prove(*plan, cluster, workload));
  int found = 0;
  for (const Op& op : plan->ops(MachineId(3))) {
    for (const Successor successor : plan->successors(op.id)) {
      if (op.kind != OpKind::kSend || successor.carried == 0) continue;
      const Plan broken = fuzz::without(*plan, op.id, successor.id());
      int wrong = 0;
      for (std::uint64_t order = 0; order < 200; ++order) {
        wrong += fuzz::run_in_random_order(broken, 3, Random(order)).empty() ? 0 : 1;
      }
      CHECK(prove(broken, cluster, workload).has_value() == (wrong == 0));
      found += wrong > 0 ? 1 : 0;
    }
  }
  // This includes the worker whose gradient starts the sum. It sends its next gradient only after it has
  // received the last sum. But a completed receive does not mean that the server no longer reads the sum.
  CHECK(found == 3);
}

}  // namespace
}  // namespace weir
