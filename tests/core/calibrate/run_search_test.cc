#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/units_text.h"
#include "core/cluster/topology_file.h"
#include "tests/catch.h"
#include "tests/core/calibrate/measured_runs.h"

namespace weir {
namespace {

using test::rate;
using test::runs;
using test::truth;
using test::value;

// NICs of two rates.
Topology unlike_nics() {
  return with_value(test::topology(), "groups.cpu.nics.0.rate", Value("25Gbps")).value();
}

// Runs whose true values differ, and whose computation hides most of what parameter servers and splits send.
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
        test::measure({"runs.json", experiment, strategy, Duration(0)}, values, 4, wrong, random, all);
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("Runs determine values far from the topology's, even if computation hides communication") {
  const auto all = calibrate(unlike_nics(), {{}, hidden_runs(0.1, 1)}, {});
  REQUIRE(all);
  const double nic = rate(*all, "groups.gpu.nics.0.rate");
  const double efficiency = value(*all, "allreduce_efficiency").value.as_double();
  CHECK(nic == Approx(9.3e9 / 8).epsilon(0.08));
  CHECK(efficiency == Approx(0.75).epsilon(0.08));
  CHECK(nic * efficiency == Approx(0.75 * 9.3e9 / 8).epsilon(0.01));
  CHECK(all->runs.fitted.median < 0.5);
}

TEST_CASE("Runs determine a rate of half or twice the topology's, and leave an efficiency of 1") {
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

TEST_CASE("A few kinds of runs determine a rate far from the topology's") {
  const Values values = {{"groups.gpu.nics.0.rate", Value("6Gbps")},
                         {"groups.cpu.nics.0.rate", Value("6Gbps")}};
  std::vector<RealRun> few = runs(1, 0.0, 1, values);
  few.resize(3);
  const auto all = calibrate(test::topology(), {{}, few}, {});
  REQUIRE(all);
  CHECK(rate(*all, "groups.gpu.nics.0.rate") == Approx(6e9 / 8).epsilon(0.03));
  CHECK(all->runs.fitted.worst < 2);
}

TEST_CASE("Equal stated rates of groups are separated if they differ in truth") {
  const Values values = {{"groups.gpu.nics.0.rate", Value("9.3Gbps")},
                         {"groups.cpu.nics.0.rate", Value("6Gbps")}};
  const auto all = calibrate(test::topology(), {{}, runs(1, 0.0, 1, values)}, {});
  REQUIRE(all);
  CHECK(rate(*all, "groups.gpu.nics.0.rate") == Approx(9.3e9 / 8).epsilon(0.02));
  CHECK(rate(*all, "groups.cpu.nics.0.rate") == Approx(6e9 / 8).epsilon(0.02));
  CHECK(all->runs.fitted.worst < 3);
}

TEST_CASE("Rates are separated even if messages cross links of both groups") {
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

TEST_CASE("A value is not determined if most runs that depend on it are predicted wrong") {
  for (const Topology& topology :
       {test::topology(), unlike_nics()}) {  // with one rate for all NICs, and with two
    std::vector<RealRun> all = runs(1, 0.0, 1, truth(), {"ps", "ring", "double-tree", "unified"}, topology);
    all.resize(all.size() - 3);          // leaves five by ps and two by unified, of which most go wrong
    for (std::size_t i = 0; i < 5; ++i)  // in a way that no rate of CPU machines' NICs explains
      all[i].iteration = all[i].iteration * static_cast<std::int64_t>(i % 3 + 3) / 2;
    const auto calibrated = calibrate(topology, {{}, all}, {});
    REQUIRE(calibrated);
    const std::string cpu = "groups.cpu.nics.0.rate";
    CHECK(std::ranges::find(calibrated->undetermined, cpu) != calibrated->undetermined.end());
    CHECK(std::ranges::any_of(calibrated->remarks, [&](const std::string& remark) {
      return remark ==
             cpu + ": most of the runs that could determine it are predicted wrong, so it stays as it was";
    }));
    CHECK(rate(*calibrated, "groups.gpu.nics.0.rate") == Approx(9.3e9 / 8).epsilon(0.02));
  }
}

}  // namespace weir
