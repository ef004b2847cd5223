// The shipped experiments give what the papers say: the very files that users run, in SimGrid but where it
// says otherwise.
#include <cmath>
#include <map>

#include "core/analysis/shares.h"
#include "core/cluster/topology_file.h"
#include "core/experiment/experiment_file.h"
#include "core/strategies/strategy.h"
#include "core/workload/trace_file.h"
#include "studies/run/simulated_world.h"
#include "studies/run/trial.h"
#include "tests/catch.h"

namespace weir {
namespace {

ExperimentFile shipped(const std::string& name) {
  Result<ExperimentFile> file = ExperimentFile::read(std::string(WEIR_SOURCE_DIR "/experiments/") + name);
  INFO((file ? "" : file.error().text));
  REQUIRE(file);
  return std::move(*file);
}

std::string value(const std::vector<Setting>& point, const std::string& path) {
  for (const Setting& setting : point) {
    if (setting.path == path) return setting.text;
  }
  return {};
}

double seconds(const Experiment& experiment, const std::string& strategy,
               const SimulationOptions& simulation = {}) {
  const Outcome outcome = run({strategy, 1, ""}, experiment, simulated_world(simulation).value());
  INFO(outcome.text);
  REQUIRE(outcome.kind == Outcome::Kind::kRow);
  return static_cast<double>(outcome.row.iteration_ns) * 1e-9;
}

bool within(double found, double expected, double tolerance) {
  return std::abs(found / expected - 1.0) <= tolerance;
}

constexpr double kUnit = 1e9 / 11.25e9;  // seconds for 1 GB at 90 Gbps

// BytePS, OSDI'20, Eq. 6; beyond k = n CPU machines do not help.
double optimum(double n, double k) {
  const double used = std::min(n, k);
  return 2 * n * (n - 1) / (n * n + used * n - 2 * used) * kUnit;
}

TEST_CASE("1 GB over eight machines takes the time of the optimal split, for every number of CPU machines") {
  const ExperimentFile file = shipped("optimal_split");
  for (std::size_t i = 0; i < file.points(); ++i) {
    const auto point = file.point(i);
    const double k = std::stod(value(point, "topology.groups.cpu.count"));
    const Result<Experiment> experiment = file.experiment(point);
    REQUIRE(experiment);
    INFO("k = " << k);
    const double unified = seconds(*experiment, "unified");
    CHECK(within(unified, optimum(8, k), 0.01));
    CHECK(within(seconds(*experiment, "hierarchical"), 1.75 * kUnit, 0.01));
    CHECK(within(seconds(*experiment, "colocated-ps"), 1.75 * kUnit, 0.01));
    if (k == 0) continue;
    const double ps = seconds(*experiment, "ps");
    CHECK(within(ps, std::max(8 / k, 1.0) * kUnit, 0.01));
    CHECK((ps > 1.75 * kUnit) == (k <= 4));
    if (k < 8) CHECK(unified < std::min(ps, 1.75 * kUnit));
  }
}

TEST_CASE(
    "no split is faster than the optimal one, and one that is 10 % off takes the time of its busiest NIC") {
  const ExperimentFile file = shipped("optimal_split/perturbed.json");
  constexpr double kN = 8;
  std::map<double, std::map<double, double>> times;  // by k and factor
  for (std::size_t i = 0; i < file.points(); ++i) {
    const auto point = file.point(i);
    const double k = std::stod(value(point, "topology.groups.cpu.count"));
    const double factor = std::stod(value(point, "cpu_share_factor"));
    const Result<Experiment> experiment = file.experiment(point);
    REQUIRE(experiment);
    times[k][factor] =
        seconds(*experiment, "unified", {.engine = SimulationEngine::kFluid});  // in a fraction of the time
  }
  for (const auto& [k, by_factor] : times) {
    REQUIRE(by_factor.size() == 7);
    for (const auto& [factor, time] : by_factor) {
      INFO("k = " << k << ", factor " << factor);
      const double cpu = factor * 2 * (kN - 1) / (kN * kN + k * kN - 2 * k);  // of the model, each (Eq. 1)
      const double gpu = (1 - k * cpu) / kN;
      CHECK(within(time, std::max(kN * cpu, 1 + (kN - 2) * gpu) * kUnit, 0.02));
      CHECK(time >= optimum(kN, k) * (1 - 0.005));
      if (factor != 1.0) CHECK(time > by_factor.at(1.0));
    }
  }
}

TEST_CASE("CPU machines do not help two workers") {
  const ExperimentFile file = shipped("optimal_split/two_workers.json");
  for (std::size_t i = 0; i < file.points(); ++i) {
    const Result<Experiment> experiment = file.experiment(file.point(i));
    REQUIRE(experiment);
    CHECK(within(seconds(*experiment, "unified"), kUnit, 0.01));
  }
  CHECK(file.points() == 3);
}

TEST_CASE("ByteScheduler's Fig. 2 ends at 13 units first come first served, at 9 with priorities and parts") {
  const ExperimentFile file = shipped("priority_and_partition");
  std::map<std::pair<std::string, std::string>, double> found;
  for (std::size_t i = 0; i < file.points(); ++i) {
    const auto point = file.point(i);
    const Result<Experiment> experiment = file.experiment(point);
    REQUIRE(experiment);
    found[{value(point, "policy"), value(point, "partition_size")}] = seconds(*experiment, "ps");
  }
  REQUIRE(found.count({"fifo", "3MB"}) == 1);
  REQUIRE(found.count({"priority", "500KB"}) == 1);
  const double fifo = found[{"fifo", "3MB"}];
  const double priority = found[{"priority", "500KB"}];
  CHECK(std::llround(fifo * 1e9) == 13'000'000);
  CHECK(std::llround(priority * 1e9) == 9'000'000);
}

TEST_CASE("VGG-16 at 1 Gbps takes what ByteScheduler measured, without and with priorities and parts") {
  const ExperimentFile file = shipped("priority_and_partition/vgg_1gbps.json");
  int compared = 0;
  for (std::size_t i = 0; i < file.points(); ++i) {
    const auto point = file.point(i);
    const bool fifo = value(point, "policy") == "fifo";
    const bool whole = value(point, "partition_size") == "68MB";
    const bool unlimited = value(point, "credit") == "unlimited";
    if (fifo != whole || fifo != unlimited) continue;
    const Result<Experiment> experiment = file.experiment(point);
    REQUIRE(experiment);
    CHECK(within(seconds(*experiment, "ps"), fifo ? 9.57 : 4.97, 0.08));
    ++compared;
  }
  CHECK(compared == 2);
}

// ByteScheduler, Fig. 13(b): 112 and 1107 images a second; NICs give 90 % of their rate.
TEST_CASE("VGG-16 over NCCL's ring takes what ByteScheduler measured at 1 and 10 Gbps") {
  for (const auto& [rate, expected] : {std::pair("0.9Gbps", 112.0), {"9Gbps", 1107.0}}) {
    const auto setting = parse_setting(fmt::format("topology.groups.gpu.nics.0.rate={}", rate));
    const auto file = ExperimentFile::read(WEIR_SOURCE_DIR "/experiments/baselines", {setting.value()});
    REQUIRE(file);
    REQUIRE(file->points() == 1);
    const Result<Experiment> experiment = file->experiment(file->point(0));
    REQUIRE(experiment);
    CHECK(within(32 * 32 / seconds(*experiment, "flat-ring"), expected, 0.08));
  }
}

TEST_CASE("a parameter server on one machine serves two workers at half the speed of two") {
  Experiment experiment;
  experiment.topology = read_topology(WEIR_SOURCE_DIR "/topologies/one-gpu-90gbps.json").value();
  experiment.trace = read_trace(std::string(WEIR_SOURCE_DIR "/traces/large-tensors.json")).value();
  experiment.warm_up = 0;
  std::map<int, double> times;
  for (const int servers : {1, 2}) {
    for (GroupSpec& group : experiment.topology.groups) group.count = gpu_count(group) > 0 ? 2 : servers;
    times[servers] = seconds(experiment, "ps");
  }
  CHECK(within(times[1] / times[2], 2.0, 0.1));
}

TEST_CASE("all-reduces at 0.7 of the NIC's rate take longer by that factor, and servers do not") {
  const ExperimentFile file = shipped("optimal_split");
  Result<Experiment> experiment = file.experiment(file.point(1));
  REQUIRE(experiment);
  experiment->options.allreduce_efficiency = 0.7;
  CHECK(within(seconds(*experiment, "hierarchical"), 1.75 * kUnit / 0.7, 0.01));  // 36 Gbps, as in Fig. 12
  CHECK(within(seconds(*experiment, "colocated-ps"), 1.75 * kUnit, 0.01));
}

}  // namespace
}  // namespace weir
