// The library without the command line: a run, a sweep in two shares, a what-if, a search and bounds. Each is
// called as another program would call it.
#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>

#include "studies/bound/bounds.h"
#include "studies/output/files.h"
#include "studies/run/experiment_run.h"
#include "studies/run/simulated_world.h"
#include "studies/run/suite.h"
#include "studies/sweep/sweep_share.h"
#include "studies/sweep/sweep_status.h"
#include "studies/tune/tune.h"
#include "studies/whatif/whatif.h"
#include "tests/catch.h"
#include "tests/core/experiment/folder.h"

namespace weir {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibraryExperiment = R"({
  "topology": {"name": "lab", "groups": [
    {"name": "gpu", "count": 3, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "8Gbps"}]},
    {"name": "cpu", "count": 1, "nics": [{"at": "numa0", "rate": "8Gbps"}]}]},
  "trace": {"name": "net", "layers": [
    {"name": "a", "forward": "1ms", "backward": "2ms", "tensors": [{"name": "v", "elements": 500000}]},
    {"name": "b", "forward": "1ms", "backward": "2ms", "tensors": [{"name": "w", "elements": 500000}]}]},
  "strategies": ["unified", "ring", "ps"], "partition_size": "100KB", "seeds": [1, 2],
  "sweep": {"topology.groups.cpu.count": [0, 3]}
})";

World fluid() { return simulated_world({SimulationEngine::kFluid, 0.0}).value(); }

// The experiment file, in a folder that also receives the results of studies.
struct LibraryScene {
  LibraryScene() { input.file = folder.write("net.json", kLibraryExperiment); }

  std::string in(const std::string& name) const { return folder.path() + "/" + name; }
  // The experiment without its sweep.
  Input base() const {
    Input one = input;
    one.settings = {"sweep={}"};
    return one;
  }

  Folder folder;
  Input input;
};

using Times = std::map<std::string, std::int64_t>;

Times times(const Results& results) {
  Times found;
  for (const Run& run : results.runs()) {
    if (run.outcome && run.outcome->kind == Outcome::Kind::kRow)
      found[results.name(run)] = run.outcome->row.iteration_ns;
  }
  return found;
}

Results run_alone(const LibraryScene& scene, const std::string& folder, int jobs) {
  const World world = fluid();
  const auto suite = read_suite(scene.input, scene.in(folder)).value();
  REQUIRE(suite.size() == 1);
  CHECK(suite.front().name == "net");
  const auto run = ExperimentRun::begin(suite.front().file, suite.front().configuration, world,
                                        {.folder = suite.front().folder, .jobs = jobs})
                       .value();
  std::size_t ended = 0;
  const auto signal = run->run([&] { ended += 1; });
  REQUIRE(signal);
  CHECK_FALSE(signal->has_value());
  CHECK(ended == run->results().runs().size());
  CHECK(run->compare("net").value().empty());  // it has no published results
  return run->results();
}

}  // namespace

TEST_CASE("an experiment runs without the command line", "[studies]") {
  const LibraryScene scene;
  const Results results = run_alone(scene, "one", 1);
  CHECK(results.runs().size() == 12);  // 2 points, 3 strategies, 2 seeds
  CHECK(results.count(Outcome::Kind::kRow) == 10);
  CHECK(results.count(Outcome::Kind::kImpossible) == 2);  // a parameter server without CPU machines
  for (const Run& run : results.runs()) {
    if (run.outcome->kind != Outcome::Kind::kRow) continue;
    const Row& row = run.outcome->row;
    INFO(results.name(run));
    CHECK(row.iteration_ns + row.ops >= row.plan_bound_ns);  // the bound rounds the time of each op up
    CHECK(row.plan_bound_ns >= row.bound_ns);
    CHECK(row.speedup.has_value());
    if (row.strategy == "unified" && row.cpu_machines == 3)
      CHECK(row.speedup.value() > 1.1);  // compared with the ring
  }
  CHECK(fs::exists(scene.in("one") + "/results.csv"));
  CHECK(fs::exists(scene.in("one") + "/results.json"));
  CHECK(times(run_alone(scene, "two", 2)) == times(results));
}

TEST_CASE("a run is refused if another run writes to its folder", "[studies]") {
  const LibraryScene scene;
  const World world = fluid();
  const ExperimentFile file = scene.input.read().value();
  const Configuration configuration = configuration_of(file).value();
  const auto first = ExperimentRun::begin(file, configuration, world, {.folder = scene.in("out")});
  REQUIRE(first);
  const auto second = ExperimentRun::begin(file, configuration, world, {.folder = scene.in("out")});
  REQUIRE_FALSE(second);
  CHECK_THAT(second.error().text, has_text("another run writes its results there"));
}

TEST_CASE("two shares of a sweep give the same results as one run", "[studies]") {
  const LibraryScene scene;
  const World world = fluid();
  const ExperimentFile file = scene.input.read().value();
  SweepSettings settings{.folder = scene.in("sweep")};
  std::size_t computed = 0;
  for (const int index : {0, 1}) {
    settings.share = {index, 2};
    std::size_t left = 0;
    SweepEvents events;
    events.begun = [&](const Design& design, std::size_t count) {
      CHECK(design.keys.size() == 12);
      left = count;
    };
    events.ended = [&](const StoredResult& result, const std::string& name, std::size_t /*ended*/) {
      INFO(name);
      CHECK(result.settled());
      ++computed;
    };
    const auto share = compute_share(file, world, settings, events);
    REQUIRE(share);
    CHECK(share->left == left);
    CHECK(share->ended == left);
    CHECK(share->failed == 0);
  }
  CHECK(computed == 12);
  const SweepStatus status = sweep_status(settings.folder).value();
  CHECK(status.left == 0);
  CHECK(status.count() == 12);
  CHECK(status.workers.empty());

  settings.share = {};
  CHECK(compute_share(file, world, settings)->left == 0);  // all results are known already
  const SweepFolder folder = SweepFolder::read(settings.folder).value();
  CHECK(times(folder.results(settings.folder)) == times(run_alone(scene, "run", 1)));
  REQUIRE(export_sweep(settings.folder, scene.in("all.csv")));
  CHECK(fs::file_size(scene.in("all.csv")) > 0);
  const auto refused = export_sweep(settings.folder, scene.in("all.txt"));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().cause == StudyError::Cause::kInput);
}

TEST_CASE("a what-if finds how many CPU machines pay", "[studies]") {
  const LibraryScene scene;
  const Experiment experiment = scene.base().base().value();
  Wishes wishes;
  wishes.counts = {"0..3"};
  wishes.strategies = {"unified", "ps"};
  const Scenarios scenarios = Scenarios::of(experiment, wishes).value();
  std::size_t last = 0;
  const WhatifAnswers simulated =
      answer_whatif(scenarios, {.world = fluid(), .jobs = 2}, [&](std::size_t ended) { last = ended; });
  CHECK(simulated.runs == 8);
  CHECK(last == 8);
  REQUIRE(simulated.whole());
  REQUIRE(simulated.series.size() == 2);
  const std::vector<Answer>& unified = simulated.series.front().answers;
  REQUIRE(unified.size() == 4);
  CHECK(unified.back().speedup > unified.front().speedup);
  CHECK(std::count_if(unified.begin(), unified.end(), [](const Answer& one) { return one.knee; }) == 1);
  CHECK_THAT(advice(simulated.series, scenarios), has_text("CPU machine"));

  REQUIRE(simulated.missing.size() == 1);  // a parameter server needs CPU machines
  CHECK(simulated.missing.front().scenario.strategy == "ps");
  CHECK(simulated.missing.front().counts == std::vector{0});
  CHECK(simulated.missing.front().kind == Outcome::Kind::kImpossible);
  CHECK(simulated.failed() == 0);

  const WhatifAnswers bounds = answer_whatif(scenarios, {});
  REQUIRE(bounds.whole());
  for (std::size_t i = 0; i < unified.size(); ++i)
    CHECK(bounds.series.front().answers[i].iteration_ns <= unified[i].iteration_ns);
}

TEST_CASE("a search finds the best of a grid", "[studies]") {
  const LibraryScene scene;
  TuneSettings settings;
  settings.strategy = "ring";
  settings.over = "partition_size=50KB|500KB|2MB";
  settings.method = tune::Method::kGrid;
  settings.jobs = 2;
  const auto subject = TuneSubject::of(scene.base().read().value(), settings, true);
  REQUIRE(subject);
  CHECK(subject->trials == 3);
  std::vector<std::size_t> numbers;
  TuneEvents events;
  events.trial = [&](std::size_t number, const TuneTrial& trial) {
    CHECK(trial.seconds());
    numbers.push_back(number);
  };
  const WorldWith world_with = [](const Streams& /*streams*/) -> Result<World> { return fluid(); };
  const Tuning tuning = tune_experiment(*subject, settings, world_with, events).value();
  CHECK(numbers == std::vector<std::size_t>{0, 1, 2});
  REQUIRE(tuning.best);
  for (const TuneTrial& trial : tuning.trials)
    CHECK(trial.seconds().value() >= tuning.trials[*tuning.best].seconds().value());

  // The best settings are a file that other experiments can use.
  REQUIRE(write_text(scene.in("best.json"), text(tuning.settings())));
  Input found = scene.base();
  found.settings_file = scene.in("best.json");
  const Outcome again = run({.strategy = "ring"}, found.base().value(), fluid());
  CHECK(again.row.iteration_ns == tuning.trials[*tuning.best].outcome.row.iteration_ns);

  settings.over = "partition_size=50KB|no size";
  const auto no_size = TuneSubject::of(scene.base().read().value(), settings, true);
  REQUIRE_FALSE(no_size);
  CHECK(no_size.error().text.starts_with("over: partition_size: "));  // no option of a command line
  settings.over = "partition_size";
  settings.fixed = {{"partition_size", "the caller"}};
  const auto refused = TuneSubject::of(scene.base().read().value(), settings, true);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().text, has_text("it is set already, by the caller"));
}

TEST_CASE("bounds come with their critical path", "[studies]") {
  const LibraryScene scene;
  const auto bounds = bounds_of(scene.base().base().value()).value();
  CHECK(bounds->possible.size() == 3);
  CHECK(bounds->impossible.empty());
  for (const StrategyBound& one : bounds->possible) CHECK(one.bound.time >= bounds->needs.front().time);
  const PlanPath path = path_of(bounds->least().plan, bounds->cluster);
  CHECK(path.path.length <= bounds->least().bound.time);
  const std::size_t ops =
      std::accumulate(path.steps.begin(), path.steps.end(), std::size_t{0},
                      [](std::size_t all, const PathStep& step) { return all + step.ops; });
  CHECK(ops == path.path.ops.size());
  CHECK_FALSE(bounds_of(scene.base().base().value(), {"no such strategy"}));
}

}  // namespace weir
