#include "core/calibrate/other_cluster.h"

#include <functional>

#include "core/base/units_text.h"
#include "tests/catch.h"
#include "tests/core/calibrate/scene.h"

namespace weir {
namespace {

// Why a run is of another cluster, after a change to its machines.
std::string why(const std::function<void(GroupSpec& gpu)>& change) {
  Topology topology = test::topology();
  topology.groups[0].gpus[0].memory = 80_GB;
  topology.groups[0].numa[0].cores = 32;
  Topology run = topology;
  change(run.groups[0]);
  return other_cluster(topology, run).value_or("");
}

}  // namespace

TEST_CASE("Runs on machines with different parts are of another cluster") {
  CHECK(why([](GroupSpec&) {}).empty());
  CHECK_THAT(why([](GroupSpec& gpu) { gpu.name = "a100"; }), has_text("this topology has no group 'a100'"));
  CHECK_THAT(why([](GroupSpec& gpu) { gpu.gpus.clear(); }), has_text("different devices"));
  CHECK_THAT(why([](GroupSpec& gpu) { gpu.nics[0].count = 2; }), has_text("2 NICs, not 1"));
  CHECK_THAT(why([](GroupSpec& gpu) { gpu.numa.emplace_back(); }), has_text("2 NUMA nodes, not 1"));
  CHECK_THAT(why([](GroupSpec& gpu) { gpu.switches.emplace_back(); }), has_text("1 PCIe switches, not 0"));
  CHECK_THAT(why([](GroupSpec& gpu) { gpu.nvlink.emplace(); }), has_text("NVLink, but these have none"));
  CHECK_THAT(why([](GroupSpec& gpu) { gpu.gpus[0].memory = 16_GB; }), has_text("GPUs of 16GB, not 80GB"));
  CHECK_THAT(why([](GroupSpec& gpu) { gpu.gpus[0].speed = 0.5; }), has_text("speed 0.5, not 1"));
  CHECK_THAT(why([](GroupSpec& gpu) { gpu.numa[0].cores = 8; }), has_text("8 cores on NUMA node 0, not 32"));
}

TEST_CASE("Other counts, similar rates and missing values do not make another cluster") {
  CHECK(why([](GroupSpec& gpu) {
          gpu.count = 8;
          gpu.gpus[0].count = 4;
          gpu.gpus[0].memory = {};
          gpu.gpus[0].rate = {};
          gpu.nics[0].rate = Shorthand<Rates>::from(9_Gbps);
        }).empty());
}

TEST_CASE("Runs from before a calibration match the cluster, however far it moved a rate") {
  const Topology run = test::topology();  // NICs of 10 Gbps
  Topology calibrated = run;
  calibrated.groups[0].nics[0].rate = Shorthand<Rates>::from(5_Gbps);
  CHECK_THAT(other_cluster(calibrated, run).value_or(""), has_text("is 10Gbps there, but 5Gbps here"));
  calibrated.calibration.emplace();
  calibrated.calibration->values = {
      {.path = "groups.gpu.nics.0.rate", .value = Value("5Gbps"), .was = "10Gbps"}};
  CHECK_FALSE(other_cluster(calibrated, run));
  calibrated.groups[0].nics[0].rate = Shorthand<Rates>::from(50_Gbps);  // changed since
  CHECK(other_cluster(calibrated, run));
  calibrated.groups[0].nics[0].rate = Shorthand<Rates>::from(5_Gbps);
  calibrated.calibration->values[0].was = "40Gbps";
  CHECK(other_cluster(calibrated, run));
}

TEST_CASE("A rate far from the stated one is doubted") {
  CalibratedValue value;
  value.path = "groups.gpu.nics.0.rate";
  value.sources = {"other.json"};
  value.was = "10Gbps";
  for (const char* near : {"9Gbps", "6Gbps", "unlimited"}) {
    value.value = Value(near);
    CHECK_FALSE(doubt(value));
  }
  for (const char* far : {"100Gbps", "1Gbps"}) {
    value.value = Value(far);
    CHECK_THAT(doubt(value).value_or(""), has_text("was other.json measured on these machines?"));
  }
}

}  // namespace weir
