#include "core/strategies/strategy.h"
#include "tests/catch.h"
#include "tests/core/calibrate/scene.h"

namespace weir {

TEST_CASE("The efficiency of all-reduces holds for strategies of that kind, and for no others") {
  for (const Strategy& strategy : strategies()) {
    INFO(strategy.name);
    Experiment experiment = test::experiment(test::topology(), std::string(strategy.name), 2, 2);
    experiment.options.allreduce_efficiency = 0.5;
    const Cluster cluster(experiment.topology);
    const Workload workload(experiment.trace);
    const auto plan = strategy.plan(cluster, workload, strategy.settled(experiment.options));
    REQUIRE(plan);
    CHECK((plan->message_efficiency() == 0.5) == (strategy.kind == StrategyKind::kAllReduce));
  }
}

}  // namespace weir
