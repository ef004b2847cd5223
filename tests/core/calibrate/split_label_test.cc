#include "core/calibrate/split_label.h"

#include "core/analysis/local_choice.h"
#include "core/strategies/strategy.h"
#include "tests/catch.h"
#include "tests/core/calibrate/scene.h"

namespace weir {
namespace {

Label label_without_plan(const Experiment& experiment) {
  const Cluster cluster(experiment.topology);
  const Dtype dtype = most_common_dtype(experiment.trace);
  const auto local = choose_local(cluster, dtype, experiment.options).value();
  const auto shares = shares_of(cluster, dtype, experiment.options, local.stages, Summing::kOptimal).value();
  return label_of_split(**strategy_named("unified"), shares, local.stages, cluster,
                        Workload(experiment.trace), experiment);
}

Label label_by_plan(const Experiment& experiment) {
  const Contender unified{*strategy_named("unified"), experiment.options};
  const Cluster cluster(experiment.topology);
  const auto plan = unified.strategy->plan(cluster, Workload(experiment.trace), unified.options).value();
  return label_of(plan, cluster, WorkTable(plan, cluster), experiment, unified);
}

}  // namespace

TEST_CASE("A split has the label of its plan, whichever values were measured, in whatever range") {
  const Topology bare = test::topology();
  const Calibration all = test::calibration(bare);
  for (const auto& machines :
       std::vector<std::pair<int, int>>{{2, 0}, {4, 2}, {12, 3}, {20, 0}, {10, 30}, {3, 12}}) {
    const auto check = [&](const Calibration& calibration) {
      Topology topology = bare;
      topology.calibration = calibration;
      const Experiment experiment = test::experiment(topology, "unified", machines.first, machines.second);
      CHECK(label_without_plan(experiment).trust == label_by_plan(experiment).trust);
    };
    for (const int measured : {4, 40}) {
      Calibration calibration = all;
      for (CalibratedValue& value : calibration.values) {
        if (value.machines) value.machines = measured;
      }
      for (std::size_t i = 0; i < all.values.size(); ++i) {
        INFO(machines.first << " and " << machines.second << " machines, " << measured
                            << " measured, without " << all.values[i].path);
        Calibration without = calibration;
        without.values.erase(without.values.begin() + static_cast<std::ptrdiff_t>(i));
        check(without);
        Calibration smaller = calibration;
        smaller.values[i].most_size = Bytes(900'000);
        check(smaller);
      }
      check(calibration);
    }
  }
}

TEST_CASE("A split on more machines than were measured is extrapolated, even if it is too large to plan") {
  Topology topology = test::topology();
  topology.calibration = test::calibration(topology);
  const Label label = label_without_plan(test::experiment(topology, "unified", 500, 100));
  CHECK(label.trust == Trust::kExtrapolated);
  CHECK_THAT(label.reason, has_text("measured with up to 4 machines, and there are 600"));
}

}  // namespace weir
