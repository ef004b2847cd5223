// Whole experiments in the toy world: rows, result files and their columns.
#include "apps/weir/results.h"

#include <nlohmann/json.hpp>

#include "core/base/document.h"
#include "core/strategies/strategy.h"
#include "tests/catch.h"
#include "tests/core/experiment/folder.h"
#include "tests/toy/engine.h"

namespace weir {
namespace {

Result<Record> toy_world(const Plan& plan, const Cluster& cluster, const SimulationSettings& settings) {
  toy::ToyEngine engine(cluster);
  return simulate(plan, cluster, settings, engine);
}

// Faster than light: all is done at once.
Result<Record> wrong_world(const Plan& plan, const Cluster& /*cluster*/, const SimulationSettings& settings) {
  return Record(plan.ops().size(), settings.iterations);
}

constexpr const char* kExperiment = R"({
  "question": "Do CPU machines help?",
  "topology": {"name": "lab", "groups": [
    {"name": "gpu", "count": 3, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "8Gbps"}]},
    {"name": "cpu", "count": 1, "nics": [{"at": "numa0", "rate": "8Gbps"}]}]},
  "trace": {"name": "net", "layers": [
    {"name": "a", "forward": "1ms", "backward": "2ms", "tensors": [{"name": "v", "elements": 500000}]},
    {"name": "b", "forward": "1ms", "backward": "2ms", "tensors": [{"name": "w", "elements": 500000}]}]},
  "strategies": ["unified", "ring", "ps"], "timelines": ["ring"],
  "partition_size": "100KB", "fusion_size": "1MB", "seeds": [1, 2],
  "sweep": {"topology.groups.cpu.count": [0, 3]}
})";

struct Scene {
  Scene() : file(ExperimentFile::read(folder.write("e.json", kExperiment)).value()) {}

  Results results() const { return {file, file.experiment(file.point(0)).value(), folder.path()}; }

  Results run(World world) const {
    Results all = results();
    for (std::size_t i = all.runs().size(); i-- > 0;) {  // not in the order in which they are shown
      const Run& run = all.runs()[i];
      // Through text, as between processes.
      all.add(
          i, outcome_from(text(weir::run(run.trial, file.experiment(file.point(run.point)).value(), world))));
    }
    return all;
  }

  Folder folder;
  ExperimentFile file;
};

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with('#')) result.push_back(line);
  }
  return result;
}

TEST_CASE(
    "results.csv has the columns that scripts rely on, and a row for each run in the order of the file") {
  const Scene scene;
  const std::vector<std::string> csv = lines(scene.run(toy_world).csv());
  REQUIRE(csv.size() == 11);  // the title, and 12 runs less those of ps without CPU machines
  CHECK(csv[0] ==
        "strategy,gpu_machines,cpu_machines,topology.groups.cpu.count,seed,iteration_ns,exposed_"
        "communication_ns,"
        "communication_ns,compute_ns,goodput_bytes_per_s,bound_ns,bound_percent,plan_bound_ns,binding,"
        "samples_per_s,"
        "speedup,host_memory_bytes");
  CHECK(csv[1].starts_with("unified,3,0,0,1,"));
  CHECK(csv[2].starts_with("unified,3,0,0,2,"));
  CHECK(csv[3].starts_with("ring,3,0,0,1,"));
  CHECK(csv[5].starts_with("unified,3,3,3,1,"));
  CHECK(csv[9].starts_with("ps,3,3,3,1,"));
}

TEST_CASE("the same experiment gives the same files, byte by byte") {
  const Scene scene;
  const Results first = scene.run(toy_world);
  const Results second = scene.run(toy_world);
  CHECK(first.csv() == second.csv());
  CHECK(first.json() == second.json());
}

TEST_CASE("results.json has the whole configuration, and says what had no row and why") {
  const Scene scene;
  const auto json = nlohmann::json::parse(scene.run(toy_world).json(), nullptr, false);
  REQUIRE(json.is_object());
  CHECK(json["finished"] == true);
  CHECK(json["experiment"]["fusion_size"] == "1MB");
  CHECK(json["experiment"]["barrier"] == false);
  CHECK(json["experiment"]["topology"]["network"]["latency"] == "0s");
  CHECK(json["sweep"]["topology.groups.cpu.count"] == nlohmann::json::array({0, 3}));
  CHECK(json["rows"].size() == 10);
  CHECK(json["failed"].empty());
  REQUIRE(json["impossible"].size() == 2);
  CHECK(json["impossible"][0]["strategy"] == "ps");
  CHECK(json["impossible"][0]["values"]["topology.groups.cpu.count"] == 0);
  CHECK_FALSE(json["impossible"][0]["why"].get<std::string>().empty());
  const auto& ring = json["rows"][2];
  CHECK(ring["speedup"] == 1.0);
  CHECK(ring["links"].size() >= 6);
  CHECK(ring["timeline"] == "timeline-ring-topology.groups.cpu.count=0-seed1.json");
  CHECK(read_document(scene.folder.path() + "/" + ring["timeline"].get<std::string>()));
  CHECK(ring["iteration_ns"].get<std::int64_t>() >= ring["bound_ns"].get<std::int64_t>());
  CHECK(json["rows"][0]["speedup"].get<double>() ==
        Approx(ring["iteration_ns"].get<double>() / json["rows"][0]["iteration_ns"].get<double>()));
}

TEST_CASE("what has not run is missing in the files, and they say so") {
  const Scene scene;
  Results results = scene.results();
  results.add(5, {Outcome::Kind::kFailed, {}, "boom"});
  CHECK(results.ended() == 1);
  CHECK_FALSE(results.complete(0));
  CHECK(results.name(results.runs()[5]) == "ps at topology.groups.cpu.count=0, seed 2");
  const auto json = nlohmann::json::parse(results.json(), nullptr, false);
  CHECK(json["finished"] == false);
  CHECK(json["failed"][0]["why"] == "boom");
  CHECK(lines(results.csv()).size() == 1);
}

TEST_CASE("a run that beats its bound is an error") {
  const Scene scene;
  const Experiment experiment = scene.file.experiment(scene.file.point(0)).value();
  const Outcome outcome = run({"ring", 1, ""}, experiment, wrong_world);
  CHECK(outcome.kind == Outcome::Kind::kFailed);
  CHECK_THAT(outcome.text, Catch::Matchers::StartsWith("the simulation beat its bound: 0s where "));
}

}  // namespace
}  // namespace weir
