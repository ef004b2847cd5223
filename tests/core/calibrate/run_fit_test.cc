#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/random.h"
#include "core/base/units_text.h"
#include "core/calibrate/calibrate.h"
#include "core/calibrate/prediction.h"
#include "core/cluster/topology_file.h"
#include "tests/catch.h"
#include "tests/core/calibrate/scene.h"

namespace weir {
namespace {

// A world with other values than the topology says, in which runs take what simulation says there.
const Values& truth() {
  static const Values values = {{"groups.gpu.nics.0.rate", Value("9.3Gbps")},
                                {"groups.cpu.nics.0.rate", Value("9.3Gbps")},
                                {"model.message_overhead", Value("70us")},
                                {"allreduce_efficiency", Value(0.85)}};
  return values;
}

// The run in a world with these values, measured so often with an error of half a per cent; of these so many
// in a hundred go wrong.
void measure(RealRun run, const Values& values, int repetitions, double wrong, Random& random,
             std::vector<RealRun>& all) {
  const auto prepared = PreparedRun::make(run);
  if (!prepared) FAIL(prepared.error().text);
  const double time = (*prepared)->predict(values)->seconds();
  for (int i = 0; i < repetitions; ++i) {
    double factor = 1 + 0.005 * random.normal();
    if (random.uniform() < wrong) factor *= 1.3 + random.uniform();
    run.iteration = Duration::from_seconds(time * factor);
    all.push_back(run);
  }
}

// Runs on several numbers of machines.
std::vector<RealRun> runs(int repetitions, double wrong, std::uint64_t seed, const Values& values = truth(),
                          const std::vector<const char*>& strategies = {"unified", "ring", "ps"},
                          const Topology& topology = test::topology()) {
  Random random(seed);
  std::vector<RealRun> all;
  for (const char* strategy : strategies) {
    for (const auto& [gpus, cpus] : {std::pair(2, 1), {2, 2}, {3, 1}, {4, 2}, {4, 4}}) {
      const auto own = std::make_shared<const Experiment>(test::experiment(topology, strategy, gpus, cpus));
      measure({"runs.json", own, strategy, Duration(0)}, values, repetitions, wrong, random, all);
    }
  }
  return all;
}

// NICs of two rates.
Topology unlike_nics() {
  return with_value(test::topology(), "groups.cpu.nics.0.rate", Value("25Gbps")).value();
}

// Runs in a world with other values: computation hides most of what parameter servers and splits send.
std::vector<RealRun> hidden_runs(double wrong, std::uint64_t seed) {
  const Values values = {{"groups.gpu.nics.0.rate", Value("9.3Gbps")},
                         {"groups.cpu.nics.0.rate", Value("21Gbps")},
                         {"network.latency", Value("80us")},
                         {"model.message_overhead", Value("25us")},
                         {"allreduce_efficiency", Value(0.75)}};
  std::string layers;
  for (int i = 0; i < 8; ++i)
    layers += fmt::format(
        R"({}{{"name": "{}", "forward": "8ms", "backward": "16ms",
              "tensors": [{{"name": "w{}", "elements": {}, "dtype": "f32"}}]}})",
        i == 0 ? "" : ", ", i, i, i % 4 == 0 ? 4'800'000 : 800'000);
  Random random(seed);
  std::vector<RealRun> all;
  for (const char* strategy : {"unified", "ring", "ps"}) {
    for (const char* part : {"500KB", "4MB"}) {
      for (const int cpus : {1, 3}) {
        Topology own = unlike_nics();
        own.groups[0].count = 4;
        own.groups[1].count = cpus;
        const std::string text = fmt::format(
            R"({{"topology": {}, "strategies": ["{}"], "partition_size": "{}", "trace": {{"name": "net", "layers": [{}]}}}})",
            write_topology(own).dump(), strategy, part, layers);
        const auto experiment = std::make_shared<const Experiment>(test::experiment_of(text));
        measure({"runs.json", experiment, strategy, Duration(0)}, values, 4, wrong, random, all);
      }
    }
  }
  return all;
}

const CalibratedValue& value(const Calibrated& all, const std::string& path) {
  for (const CalibratedValue& one : all.values) {
    if (one.path == path) return one;
  }
  FAIL(path << " was not fitted");
  return all.values.front();
}

double rate(const Calibrated& all, const std::string& path) {
  return static_cast<double>(parse_rate(value(all, path).value.as_string())->value());
}

void check_truth(const Calibrated& all) {
  CHECK(rate(all, "groups.gpu.nics.0.rate") == Approx(9.3e9 / 8).epsilon(0.01));
  CHECK(rate(all, "groups.cpu.nics.0.rate") == Approx(9.3e9 / 8).epsilon(0.01));
  CHECK(parse_duration(value(all, "model.message_overhead").value.as_string())->seconds() ==
        Approx(70e-6).margin(15e-6));
  CHECK(value(all, "allreduce_efficiency").value.as_double() == Approx(0.85).epsilon(0.02));
}

}  // namespace

TEST_CASE("Runs tell the rate of links, the overhead of messages and the efficiency of all-reduces") {
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
  // What the runs hardly use is told by none.
  CHECK(std::find(all->untold.begin(), all->untold.end(), "groups.gpu.numa.0.sum_rate.f32") !=
        all->untold.end());
}

TEST_CASE("Fifteen per cent of runs that went wrong do not move the fit") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto all = calibrate(test::topology(), {{}, runs(4, 0.15, seed)}, {});
    REQUIRE(all);
    check_truth(*all);
    CHECK(rate(*all, "groups.gpu.nics.0.rate") == rate(*all, "groups.cpu.nics.0.rate"));  // still as one
    CHECK(all->runs.fitted.worst > 25);  // they are there, and said to be
    REQUIRE(!all->remarks.empty());
    CHECK_THAT(all->remarks.front(), has_text("are foretold more than 10 % wrong, up to"));
  }
}

TEST_CASE("Runs tell values far from what the topology says, where computation hides what splits take") {
  const auto all = calibrate(unlike_nics(), {{}, hidden_runs(0.1, 1)}, {});
  REQUIRE(all);
  const double nic = rate(*all, "groups.gpu.nics.0.rate");
  const double efficiency = value(*all, "allreduce_efficiency").value.as_double();
  CHECK(nic == Approx(9.3e9 / 8).epsilon(0.08));
  CHECK(efficiency == Approx(0.75).epsilon(0.08));
  CHECK(nic * efficiency == Approx(0.75 * 9.3e9 / 8).epsilon(0.01));
  CHECK(all->runs.fitted.median < 0.5);
}

TEST_CASE("Runs tell a rate that is half or twice what the topology says, and an efficiency that is none") {
  for (const char* nic : {"5Gbps", "20Gbps"}) {
    const Values values = {{"groups.gpu.nics.0.rate", Value(nic)}, {"groups.cpu.nics.0.rate", Value(nic)}};
    const auto all = calibrate(test::topology(), {{}, runs(2, 0.0, 1, values)}, {});
    REQUIRE(all);
    const double true_rate = static_cast<double>(parse_rate(nic)->value());
    CHECK(rate(*all, "groups.gpu.nics.0.rate") == Approx(true_rate).epsilon(0.02));
    CHECK(all->runs.fitted.median < 1);
    for (const CalibratedValue& one : all->values) {
      if (one.path == kAllreduceEfficiency) CHECK(one.value.as_double() == Approx(1).epsilon(0.02));
    }
  }
}

TEST_CASE("A few kinds of runs tell a rate far from what the topology says") {
  const Values values = {{"groups.gpu.nics.0.rate", Value("6Gbps")},
                         {"groups.cpu.nics.0.rate", Value("6Gbps")}};
  std::vector<RealRun> few = runs(1, 0.0, 1, values);
  few.resize(3);
  const auto all = calibrate(test::topology(), {{}, few}, {});
  REQUIRE(all);
  CHECK(rate(*all, "groups.gpu.nics.0.rate") == Approx(6e9 / 8).epsilon(0.03));
  CHECK(all->runs.fitted.worst < 2);
}

TEST_CASE("Rates of groups that are stated alike are told apart where they are not alike") {
  const Values values = {{"groups.gpu.nics.0.rate", Value("9.3Gbps")},
                         {"groups.cpu.nics.0.rate", Value("6Gbps")}};
  const auto all = calibrate(test::topology(), {{}, runs(1, 0.0, 1, values)}, {});
  REQUIRE(all);
  CHECK(rate(*all, "groups.gpu.nics.0.rate") == Approx(9.3e9 / 8).epsilon(0.02));
  CHECK(rate(*all, "groups.cpu.nics.0.rate") == Approx(6e9 / 8).epsilon(0.02));
  CHECK(all->runs.fitted.worst < 3);
}

TEST_CASE("Rates are told apart where messages cross links of both") {
  const Values values = {{"groups.gpu.nics.0.rate", Value("9.3Gbps")},
                         {"groups.cpu.nics.0.rate", Value("6Gbps")}};
  std::vector<RealRun> all;
  for (RealRun& run : runs(1, 0.0, 1, values, {"ring", "unified", "ps"})) {
    const Topology& own = run.experiment->topology;
    if (run.contender == "ring" || own.groups[0].count == own.groups[1].count) all.push_back(std::move(run));
  }
  const auto calibrated = calibrate(test::topology(), {{}, all}, {});
  REQUIRE(calibrated);
  CHECK(rate(*calibrated, "groups.gpu.nics.0.rate") == Approx(9.3e9 / 8).epsilon(0.02));
  CHECK(rate(*calibrated, "groups.cpu.nics.0.rate") == Approx(6e9 / 8).epsilon(0.02));
}

TEST_CASE("A value is not told where most runs that hang by it are foretold wrong") {
  for (const Topology& topology :
       {test::topology(), unlike_nics()}) {  // of one rate for all NICs, and of two
    std::vector<RealRun> all = runs(1, 0.0, 1, truth(), {"ps", "ring", "double-tree", "unified"}, topology);
    all.resize(all.size() - 3);          // so that of five by ps and two by unified most go wrong
    for (std::size_t i = 0; i < 5; ++i)  // as no rate of NICs of CPU machines explains
      all[i].iteration = all[i].iteration * static_cast<std::int64_t>(i % 3 + 3) / 2;
    const auto calibrated = calibrate(topology, {{}, all}, {});
    REQUIRE(calibrated);
    const std::string cpu = "groups.cpu.nics.0.rate";
    CHECK(std::ranges::find(calibrated->untold, cpu) != calibrated->untold.end());
    CHECK(std::ranges::any_of(calibrated->remarks, [&](const std::string& remark) {
      return remark == cpu + ": most of the runs that could tell it are foretold wrong: it stays as it was";
    }));
    CHECK(rate(*calibrated, "groups.gpu.nics.0.rate") == Approx(9.3e9 / 8).epsilon(0.02));
  }
}

TEST_CASE("Fits start at what the runs' experiments say of messages") {
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

TEST_CASE("Held-out runs are kinds that were never fitted, and are foretold") {
  const std::vector<RealRun> measured = runs(2, 0.0, 7);
  const auto all = calibrate(test::topology(), {{}, measured}, {.fraction = 0.5, .seed = 3});
  REQUIRE(all);
  check_truth(*all);
  CHECK(all->runs.fitted.count + all->runs.held_out.count == measured.size());
  CHECK(all->runs.held_out.count == 14);  // 7 of 15 kinds
  CHECK(all->runs.held_out.p95 < 2);
  for (const ForetoldRun& one : all->foretold) {
    for (const ForetoldRun& other : all->foretold) {
      if (one.run.experiment == other.run.experiment) CHECK(one.held_out == other.held_out);
    }
  }
  const auto again = calibrate(test::topology(), {{}, measured}, {.fraction = 0.5, .seed = 3});
  CHECK(again->topology == all->topology);
  const auto other = calibrate(test::topology(), {{}, measured}, {.fraction = 0.5, .seed = 4});
  CHECK(other->runs.held_out.median != all->runs.held_out.median);
}

TEST_CASE("An earlier calibration stays where nothing new is told") {
  Topology topology = test::topology();
  topology.calibration = test::calibration(topology);
  for (CalibratedValue& value : topology.calibration->values) value.was = "40Gbps";
  const auto all = calibrate(topology, {{}, runs(1, 0.0, 1)}, {});
  REQUIRE(all);
  CHECK(value(*all, "groups.gpu.nics.0.rate").was == "10Gbps");
  for (const CalibratedValue& one : all->topology.calibration->values) {  // as it was stated
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

TEST_CASE("Fewer kinds of runs than values and one fit anything, so no value is fitted to them") {
  std::vector<RealRun> one = runs(5, 0.0, 1);
  one.resize(5);  // repetitions of the first
  const auto none = calibrate(test::topology(), {{}, one}, {});
  REQUIRE(!none);
  CHECK_THAT(none.error().text,
             has_text("one kind of runs tells none of the 4 values that they were to tell: more kinds"));
  std::vector<RealRun> few = runs(1, 0.0, 1);
  few.resize(3);
  const auto fitted = calibrate(test::topology(), {{}, few}, {.fraction = 0.01, .seed = 1});
  REQUIRE(fitted);
  CHECK(fitted->values.size() <= 3);  // of which NICs of two groups are one
  CHECK_THAT(fitted->remarks.front(), has_text("a fraction of 0.01 of 3 kinds of runs is none"));
  for (const CalibratedValue& told : fitted->values) CHECK(told.standard_error_percent);
}

TEST_CASE("Runs that simulation cannot foretell calibrate nothing") {
  std::vector<RealRun> instant = runs(1, 0.0, 1);
  for (RealRun& run : instant) run.iteration = Duration(1);
  const auto none = calibrate(test::topology(), {{}, instant}, {});
  REQUIRE(!none);
  CHECK_THAT(none.error().text, has_text("half of the runs are foretold more than"));
}

TEST_CASE("Nothing measured is nothing fitted") {
  const auto none = calibrate(test::topology(), {}, {});
  REQUIRE(!none);
  CHECK_THAT(none.error().text, has_text("nothing was measured"));
}

}  // namespace weir
