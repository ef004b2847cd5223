#include "core/base/units_text.h"
#include "core/calibrate/run_parameter.h"
#include "tests/catch.h"
#include "tests/core/calibrate/measured_runs.h"

namespace weir {
namespace {

using test::rate;
using test::runs;
using test::value;

void check_truth(const Calibrated& all) {
  CHECK(rate(all, "groups.gpu.nics.0.rate") == Approx(9.3e9 / 8).epsilon(0.01));
  CHECK(rate(all, "groups.cpu.nics.0.rate") == Approx(9.3e9 / 8).epsilon(0.01));
  CHECK(parse_duration(value(all, "model.message_overhead").value.as_string())->seconds() ==
        Approx(70e-6).margin(15e-6));
  CHECK(value(all, "allreduce_efficiency").value.as_double() == Approx(0.85).epsilon(0.02));
}

}  // namespace

TEST_CASE("Runs determine the rate of links, the overhead of messages and the efficiency of all-reduces") {
  const auto all = calibrate(test::topology(), {{}, runs(2, 0.0, 1)}, {});
  REQUIRE(all);
  check_truth(*all);
  CHECK(all->remarks.empty());
  CHECK(all->runs.fitted.median < 1);
  CHECK(all->runs.held_out.count == 0);
  const CalibratedValue& nic = value(*all, "groups.gpu.nics.0.rate");
  CHECK(nic.was == "10Gbps");
  CHECK(nic.points == 30);
  CHECK(nic.machines == 8);
  CHECK(nic.sources == std::vector<std::string>{"runs.json"});
  CHECK(nic.least_size < nic.most_size);
  // No run determines a value that the runs hardly use.
  CHECK(std::find(all->undetermined.begin(), all->undetermined.end(), "groups.gpu.numa.0.sum_rate.f32") !=
        all->undetermined.end());
}

TEST_CASE("Fifteen per cent of runs that went wrong do not move the fit") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto all = calibrate(test::topology(), {{}, runs(4, 0.15, seed)}, {});
    REQUIRE(all);
    check_truth(*all);
    CHECK(rate(*all, "groups.gpu.nics.0.rate") == rate(*all, "groups.cpu.nics.0.rate"));  // still as one
    CHECK(all->runs.fitted.worst > 25);  // the wrong runs are in the data, and reported
    REQUIRE(!all->remarks.empty());
    CHECK_THAT(all->remarks.front(), has_text("are predicted more than 10 % wrong, up to"));
  }
}

TEST_CASE("Fits start at what the runs' experiments state about messages") {
  std::vector<RealRun> all = runs(1, 0.0, 1);
  for (RealRun& run : all) {
    Experiment own = *run.experiment;
    own.model.message_overhead = 500_us;
    run.experiment = std::make_shared<const Experiment>(std::move(own));
  }
  const auto calibrated = calibrate(test::topology(), {{}, all}, {});
  REQUIRE(calibrated);
  check_truth(*calibrated);
  CHECK(value(*calibrated, "model.message_overhead").was == "500us");
}

TEST_CASE("Held-out runs are of kinds that were never fitted, and are predicted") {
  const std::vector<RealRun> measured = runs(2, 0.0, 7);
  const auto all = calibrate(test::topology(), {{}, measured}, {.fraction = 0.5, .seed = 3});
  REQUIRE(all);
  check_truth(*all);
  CHECK(all->runs.fitted.count + all->runs.held_out.count == measured.size());
  CHECK(all->runs.held_out.count == 14);  // 7 of 15 kinds
  CHECK(all->runs.held_out.p95 < 2);
  for (const PredictedRun& one : all->predicted) {
    for (const PredictedRun& other : all->predicted) {
      if (one.run.experiment == other.run.experiment) CHECK(one.held_out == other.held_out);
    }
  }
  const auto again = calibrate(test::topology(), {{}, measured}, {.fraction = 0.5, .seed = 3});
  CHECK(again->topology == all->topology);
  const auto other = calibrate(test::topology(), {{}, measured}, {.fraction = 0.5, .seed = 4});
  CHECK(other->runs.held_out.median != all->runs.held_out.median);
}

TEST_CASE("An earlier calibration stays where nothing new is determined") {
  Topology topology = test::topology();
  topology.calibration = test::calibration(topology);
  for (CalibratedValue& value : topology.calibration->values) value.was = "40Gbps";
  const auto all = calibrate(topology, {{}, runs(1, 0.0, 1)}, {});
  REQUIRE(all);
  CHECK(value(*all, "groups.gpu.nics.0.rate").was == "10Gbps");
  for (const CalibratedValue& one : all->topology.calibration->values) {  // the value before all calibrations
    if (one.path == "groups.gpu.nics.0.rate") CHECK(one.was == "40Gbps");
  }
  const std::vector<CalibratedValue>& values = all->topology.calibration->values;
  const auto count = [&](const std::string& path) {
    return std::count_if(values.begin(), values.end(),
                         [&](const CalibratedValue& one) { return one.path == path; });
  };
  CHECK(count("groups.gpu.gpus.0.rate") == 1);
  CHECK(count("groups.gpu.nics.0.rate") == 1);
  topology.groups[0].nics[0].count = 2;
  const auto other = calibrate(topology, {{}, runs(1, 0.0, 1)}, {});
  REQUIRE(other);
  CHECK(other->topology.calibration->values.size() == other->values.size());
}

TEST_CASE("No value is fitted to as few kinds of runs as there are values") {
  std::vector<RealRun> one = runs(5, 0.0, 1);
  one.resize(5);  // repetitions of the first
  const auto none = calibrate(test::topology(), {{}, one}, {});
  REQUIRE(!none);
  CHECK_THAT(none.error().text,
             has_text("one kind of runs determines none of the 4 values searched for: more kinds"));
  std::vector<RealRun> few = runs(1, 0.0, 1);
  few.resize(3);
  const auto fitted = calibrate(test::topology(), {{}, few}, {.fraction = 0.01, .seed = 1});
  REQUIRE(fitted);
  CHECK(fitted->values.size() <= 3);  // the NICs of two groups count as one
  CHECK_THAT(fitted->remarks.front(), has_text("a fraction of 0.01 of 3 kinds of runs is less than one"));
  for (const CalibratedValue& value : fitted->values) CHECK(value.standard_error_percent);
}

TEST_CASE("Runs that simulation cannot predict calibrate nothing") {
  std::vector<RealRun> instant = runs(1, 0.0, 1);
  for (RealRun& run : instant) run.iteration = Duration(1);
  const auto none = calibrate(test::topology(), {{}, instant}, {});
  REQUIRE(!none);
  CHECK_THAT(none.error().text, has_text("half of the runs are predicted more than"));
}

TEST_CASE("Without measurements nothing is fitted") {
  const auto none = calibrate(test::topology(), {}, {});
  REQUIRE(!none);
  CHECK_THAT(none.error().text, has_text("no measurement fits"));
}

TEST_CASE("A value at the end of its range that the runs would exceed is reported") {
  // The NICs are six times as fast as the topology says; rates are fitted up to 4.5 times.
  Values fast = test::truth();
  for (const char* path : {"groups.gpu.nics.0.rate", "groups.cpu.nics.0.rate"}) fast[path] = Value("60Gbps");
  fast["allreduce_efficiency"] = Value(1.0);
  fast["model.message_overhead"] = Value("0s");
  const auto all = calibrate(test::topology(), {{}, test::runs(2, 0.0, 1, fast)}, {});
  REQUIRE(all);
  const auto reported = std::ranges::any_of(all->remarks, [](const std::string& remark) {
    return remark.find("groups.gpu.nics.0.rate") != std::string::npos &&
           remark.find("the runs fit best with a value beyond what can be written") != std::string::npos;
  });
  CHECK(reported);
}

TEST_CASE("An efficiency stays within its range") {
  RunParameter parameter{.paths = {"allreduce_efficiency"}, .unit = RunParameter::Unit::kFraction, .at = 0.5};
  parameter.x = parameter.least();
  CHECK(parameter.value(0).as_double() == Approx(0.01));
  parameter.x = parameter.most();
  CHECK(parameter.value(0).as_double() == Approx(1.0));
}

}  // namespace weir
