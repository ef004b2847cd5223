#include "core/calibrate/label.h"

#include <fmt/format.h>

#include "core/base/units_text.h"
#include "core/calibrate/calibrate.h"
#include "core/cluster/topology_file.h"
#include "tests/catch.h"
#include "tests/core/calibrate/scene.h"

namespace weir {
namespace {

Uses uses(const Experiment& experiment) {
  const auto found = contender(experiment, experiment.strategies.front());
  const Cluster cluster(experiment.topology);
  const Workload workload(experiment.trace);
  const auto plan = found->strategy->plan(cluster, workload, found->options);
  if (!plan) FAIL(plan.error().text);
  return uses_of(*plan, cluster, WorkTable(*plan, cluster), experiment, *found);
}

Label label(const Experiment& experiment) {
  const auto found = contender(experiment, experiment.strategies.front());
  return label_of(uses(experiment), experiment, *found);
}

Topology calibrated() {
  Topology topology = test::topology();
  topology.calibration = test::calibration(topology);
  return topology;
}

CalibratedValue& value(Topology& topology, const std::string& path) {
  for (CalibratedValue& one : topology.calibration->values) {
    if (one.path == path) return one;
  }
  FAIL(path);
  return topology.calibration->values.front();
}

Label of(const Topology& topology, const std::string& strategy = "unified") {
  return label(test::experiment(topology, strategy, 3, 1));
}

// A topology calibrated by an all-reduce of 4 to 40 MB among four GPUs on each of `machines`. Several
// machines have no limit but their NICs.
Topology measured_with_all_reduces(int machines) {
  const std::string inside = machines == 1 ? R"("nvlink": {"switch": {"rate": "10GB/s"}})"
                                           : R"("nics": [{"at": "numa0", "rate": "10GB/s"}])";
  const std::string text = fmt::format(
      R"({{"name": "four", "groups": [
        {{"name": "gpu", "count": {}, "gpus": [{{"count": 4, "at": "numa0"{}}}], {}}}]}})",
      machines, machines == 1 ? R"(, "rate": "5GB/s")" : "", inside);
  const auto read = read_topology(*parse_document(text, "four.json"));
  if (!read) FAIL(read.error().text);
  std::vector<Point> points;
  for (const double size : {4e6, 8e6, 16e6, 40e6}) {
    Point point;
    point.kind = Point::Kind::kCollective;
    point.source = "nccl.txt";
    point.ranks = 4 * machines;
    point.hosts = machines;
    point.size = Bytes(static_cast<std::int64_t>(size));
    point.seconds = 24e-6 + size * nccl::bus_factor(point.test, point.ranks) / 9e9;
    points.push_back(point);
  }
  const auto made = calibrate(*read, {points, {}}, {});
  if (!made) FAIL(made.error().text);
  return made->topology;
}

void drop(Topology& topology, const std::string& path) {
  std::erase_if(topology.calibration->values, [&](const CalibratedValue& one) { return one.path == path; });
}

}  // namespace

TEST_CASE("A topology without calibration gives vendor constants throughout") {
  for (const char* strategy : {"unified", "ring", "ps"}) {
    const Label found = of(test::topology(), strategy);
    CHECK(found.trust == Trust::kVendorConstant);
    CHECK(found.reason == "the topology has no calibration");
  }
}

TEST_CASE("Conditions of a run are never measured") {
  Experiment experiment = test::experiment(calibrated(), "unified", 3, 1);
  experiment.conditions.incast = Incast{4, 0.1};
  CHECK(label(experiment).trust == Trust::kVendorConstant);
  CHECK(label(experiment).reason.find("conditions") != std::string::npos);
}

TEST_CASE("A result is calibrated if every value that it uses was measured in its range") {
  for (const char* strategy : {"unified", "ring", "ps", "hierarchical", "double-tree"}) {
    INFO(strategy);
    CHECK(of(calibrated(), strategy) == Label{Trust::kCalibrated, ""});
  }
}

TEST_CASE("Every used value must be measured, and no other") {
  const Topology whole = calibrated();
  for (const CalibratedValue& one : whole.calibration->values) {
    INFO(one.path);
    Topology without = whole;
    drop(without, one.path);
    const Label ring = of(without, "ring");
    const Label unified = of(without, "unified");
    const bool cpu = one.path.starts_with("groups.cpu.");      // on which a ring has nothing to do
    const bool efficiency = one.path == kAllreduceEfficiency;  // of which unified knows nothing
    CHECK((ring.trust == Trust::kCalibrated) == cpu);
    CHECK((unified.trust == Trust::kCalibrated) == efficiency);
    if (!cpu) CHECK(ring == Label{Trust::kVendorConstant, one.path + " was not measured"});
    if (!efficiency) CHECK(unified == Label{Trust::kVendorConstant, one.path + " was not measured"});
  }
}

TEST_CASE("A value that measurements did not determine is a vendor constant") {
  Topology topology = calibrated();
  CalibratedValue& overhead = value(topology, "model.message_overhead");
  overhead.standard_error_percent = 100.0;
  CHECK(of(topology) == Label{Trust::kCalibrated, ""});
  overhead.standard_error_percent = 180.0;
  CHECK(of(topology) == Label{Trust::kVendorConstant,
                              "the measurements did not determine model.message_overhead (a standard "
                              "error of 180 %)"});
}

TEST_CASE("Messages smaller or larger than those that were measured are extrapolated") {
  Topology small = calibrated();
  value(small, "groups.gpu.nics.0.rate").least_size = Bytes(1'000'001);
  CHECK(of(small).trust == Trust::kExtrapolated);
  CHECK_THAT(of(small).reason, has_text("groups.gpu.nics.0.rate was measured with sizes from 1 MB to 16 MB"));
  CHECK_THAT(of(small).reason, has_text("are used"));
  Topology large = calibrated();
  value(large, "groups.gpu.gpus.0.rate").most_size = Bytes(999'999);
  CHECK(of(large).trust == Trust::kExtrapolated);
  CHECK_THAT(of(large).reason, has_text("groups.gpu.gpus.0.rate was measured with sizes from 1 KB to 1 MB"));
  // Exactly at the limits.
  Topology whole = calibrated();
  const std::map<std::string, Sizes> all = uses(test::experiment(whole, "unified", 3, 1)).values;
  for (CalibratedValue& one : whole.calibration->values) {
    const auto used = all.find(one.path);
    if (used == all.end()) continue;
    one.least_size = used->second.least;
    one.most_size = used->second.most;
  }
  CHECK(of(whole).trust == Trust::kCalibrated);
  for (CalibratedValue& one : whole.calibration->values) {
    if (!all.contains(one.path)) continue;
    INFO(one.path);
    const CalibratedValue exact = one;
    one.least_size = std::min(one.least_size, one.most_size -= Bytes(1));
    CHECK(of(whole).trust == Trust::kExtrapolated);
    one = exact;
    one.most_size = std::max(one.most_size, one.least_size += Bytes(1));
    CHECK(of(whole).trust == Trust::kExtrapolated);
    one = exact;
  }
}

TEST_CASE("Collectives are counted as benchmarks of collectives count them") {
  for (const int machines : {1, 2, 3}) {  // of four GPUs; twelve do not divide the sizes
    Topology topology = measured_with_all_reduces(machines);
    // The smallest and the largest bucket that were measured, and beyond both.
    for (const auto& [bytes, reached] : {std::pair(4e6, true), {40e6, true}, {3.9e6, false}, {41e6, false}}) {
      for (const Collective collective :
           {Collective::kFlatRing, Collective::kHierarchical, Collective::kNccl}) {
        INFO(machines << " machines, " << bytes << " bytes, collective " << static_cast<int>(collective));
        const auto elements = static_cast<int>(bytes / 4);
        Experiment experiment = test::one_tensor(topology, "ddp", elements);
        experiment.options.collective = collective;
        // Over several machines they use more values than such a benchmark determines.
        if (machines == 1)
          CHECK(label(experiment).trust == (reached ? Trust::kCalibrated : Trust::kExtrapolated));
        const std::string path =
            machines == 1 ? "groups.gpu.nvlink.switch.rate" : std::string(kAllreduceEfficiency);
        const Sizes used = uses(experiment).values.at(path);
        const CalibratedValue& measured = value(topology, path);
        CHECK((used.least >= measured.least_size && used.most <= measured.most_size) == reached);
      }
    }
  }
}

TEST_CASE("A result for more machines than were measured is extrapolated") {
  const Topology four = calibrated();
  CHECK(label(test::experiment(four, "unified", 3, 1)).trust == Trust::kCalibrated);
  CHECK(label(test::experiment(four, "unified", 2, 1)).trust == Trust::kCalibrated);
  const Label found = label(test::experiment(four, "unified", 3, 2));
  CHECK(found.trust == Trust::kExtrapolated);
  CHECK_THAT(found.reason, has_text("was measured with up to 4 machines, and there are 5"));
  // Values within a machine do not depend on other machines.
  Topology inside = calibrated();
  for (CalibratedValue& one : inside.calibration->values) {
    if (one.machines) one.machines = 5;
  }
  CHECK(label(test::experiment(inside, "unified", 3, 2)).trust == Trust::kCalibrated);
}

TEST_CASE("A value that was changed after the calibration is not calibrated") {
  Topology faster = calibrated();
  faster.groups[1].nics[0].rate = {BytesPerSecond(2'500'000'000), BytesPerSecond(2'500'000'000)};
  CHECK(of(faster).trust == Trust::kVendorConstant);
  CHECK_THAT(of(faster).reason,
             has_text("groups.cpu.nics.0.rate is 20Gbps, not the 10Gbps that was calibrated"));
  CHECK(of(faster, "ring").trust == Trust::kCalibrated);  // a ring does not use it
  Topology one_way = calibrated();
  one_way.groups[0].nics[0].rate.in = BytesPerSecond(1'200'000'000);
  CHECK(of(one_way).trust == Trust::kVendorConstant);
  Topology slower = calibrated();
  slower.network.latency = Duration(21'000);
  CHECK(of(slower).trust == Trust::kVendorConstant);
  Experiment experiment = test::experiment(calibrated(), "unified", 3, 1);
  experiment.model.message_overhead = Duration(1);
  CHECK_THAT(label(experiment).reason,
             has_text("model.message_overhead is 1ns, not the 0s that was calibrated"));
  experiment = test::experiment(calibrated(), "ring", 3, 1);
  experiment.options.allreduce_efficiency = 0.9;
  CHECK(label(experiment).trust == Trust::kVendorConstant);
  // The same value in other words is the same.
  Topology worded = calibrated();
  value(worded, "groups.gpu.nics.0.rate").value = Value("1.25GB/s");
  CHECK(of(worded).trust == Trust::kCalibrated);
}

TEST_CASE("A stated value that no calibration fits is a vendor constant") {
  Topology memory = calibrated();
  memory.groups[0].numa[0].memory_rate = BytesPerSecond(20'000'000'000);
  CHECK(of(memory) == Label{Trust::kVendorConstant, "groups.gpu.numa.0.memory_rate was not measured"});
  Topology late = calibrated();
  late.groups[0].nics[0].latency = Duration(1'000);
  CHECK(of(late) == Label{Trust::kVendorConstant, "groups.gpu.nics.0.latency was not measured"});
  Topology hidden = calibrated();  // a latency on a link of unlimited rate, which the cluster does not keep
  hidden.groups[0].gpus[0].rate = {};
  hidden.groups[0].gpus[0].latency = Duration(1'000);
  drop(hidden, "groups.gpu.gpus.0.rate");
  CHECK(of(hidden) == Label{Trust::kVendorConstant, "groups.gpu.gpus.0.latency was not measured"});
  Topology slow = calibrated();
  slow.groups[0].gpus[0].speed = 0.5;
  CHECK(of(slow) == Label{Trust::kVendorConstant, "groups.gpu.gpus.0.speed was not measured"});
  Experiment experiment = test::experiment(calibrated(), "unified", 3, 1);
  experiment.model.unaligned_efficiency = 0.8;
  CHECK(label(experiment) == Label{Trust::kVendorConstant, "model.unaligned_efficiency was not measured"});
  Experiment busy = test::experiment(calibrated(), "unified", 3, 1);
  busy.model.collective_overhead = Duration(1'000);
  CHECK(label(busy) == Label{Trust::kVendorConstant, "model.collective_overhead was not measured"});
  Experiment updating = test::experiment(calibrated(), "ps", 3, 1);
  updating.options.optimizer = Optimizer::kSgd;
  CHECK(label(updating) == Label{Trust::kVendorConstant, "update_passes was not measured"});
  updating.options.update_passes = 20;
  CHECK(label(updating) == Label{Trust::kVendorConstant, "update_passes was not measured"});
}

TEST_CASE("Machines with different parts, or in racks, were not measured") {
  Topology wider = calibrated();
  wider.groups[0].nics[0].count = 2;
  CHECK(of(wider).trust == Trust::kExtrapolated);
  CHECK_THAT(of(wider).reason, has_text("was measured on machines with different parts"));
  Topology racks = calibrated();
  racks.network.racks = RacksSpec{.size = 2, .uplink = Rates{}};
  CHECK(of(racks).trust == Trust::kExtrapolated);
  // Measured in the same racks, but within one.
  racks.calibration->shapes["network"] = shape(racks.network);
  for (CalibratedValue& one : racks.calibration->values) {
    if (one.machines) one.racks = 1;
  }
  CHECK_THAT(of(racks).reason, has_text("was measured within 1 rack, and there are 2"));
  for (CalibratedValue& one : racks.calibration->values) {
    if (one.machines) one.racks = 2;
  }
  CHECK(of(racks).trust == Trust::kCalibrated);
  racks.network.racks->uplink = Rates{BytesPerSecond(1'000'000'000), BytesPerSecond(1'000'000'000)};
  CHECK(of(racks).reason == "network.racks.uplink was not measured");
}

TEST_CASE("The weakest value labels the result, and others like it are counted") {
  Topology both = calibrated();
  value(both, "groups.gpu.nics.0.rate").machines = 2;  // extrapolated
  drop(both, "network.latency");
  CHECK(of(both) == Label{Trust::kVendorConstant, "network.latency was not measured"});
  drop(both, "model.message_overhead");
  CHECK_THAT(of(both).reason, has_text("; and 1 more"));
}

}  // namespace weir
