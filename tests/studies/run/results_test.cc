// Whole experiments in the toy world: rows, result files and their columns.
#include "studies/run/results.h"

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/document/document.h"
#include "core/strategies/strategy.h"
#include "studies/output/files.h"
#include "studies/run/result_files.h"
#include "tests/catch.h"
#include "tests/core/experiment/folder.h"
#include "tests/toy/engine.h"

namespace weir {
namespace {

Result<Record> toy_run(const Plan& plan, const Cluster& cluster, const SimulationSettings& settings) {
  toy::ToyEngine engine(plan, cluster);
  return simulate(plan, cluster, settings, engine);
}

const World kToyWorld = {
    "toy",
    "",
    [](const Planned& planned) -> Result<RunOutput> {
      return RunOutput{.record = toy_run(planned.plan, planned.cluster, planned.settings).value()};
    },
    {}};

// A world that breaks physics: everything ends at once.
const World kWrongWorld = {
    "wrong",
    "",
    [](const Planned& planned) -> Result<RunOutput> {
      return RunOutput{.record = Record(planned.plan.ops().size(), planned.settings.iterations)};
    },
    {}};

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

  explicit Scene(const std::string& text)
      : file(ExperimentFile::read(folder.write("e.json", text)).value()) {}

  Results results() const { return {file, configuration_of(file).value(), folder.path(), kToyWorld}; }

  Results run(const World& world) const {
    Results all = results();
    for (std::size_t i = all.runs().size(); i-- > 0;) {  // in another order than they are shown
      const Run& run = all.runs()[i];
      // Converts to text and back, as between processes.
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
  const std::vector<std::string> csv = lines(scene.run(kToyWorld).csv());
  REQUIRE(csv.size() == 11);  // the title, and 12 runs without those of ps without CPU machines
  CHECK(csv[0] ==
        "strategy,gpu_machines,cpu_machines,topology.groups.cpu.count,seed,iteration_ns,exposed_"
        "communication_ns,"
        "communication_ns,compute_ns,goodput_bytes_per_s,goodput_bound_bytes_per_s,bound_ns,bound_percent,"
        "plan_bound_ns,binding,first_ns,first_bound_ns,first_plan_bound_ns,label,label_reason,"
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
  const Results first = scene.run(kToyWorld);
  const Results second = scene.run(kToyWorld);
  CHECK(first.csv() == second.csv());
  CHECK(first.json() == second.json());
}

TEST_CASE("results.json has the whole configuration, and lists runs without a row and why") {
  const Scene scene;
  const auto json = nlohmann::json::parse(scene.run(kToyWorld).json(), nullptr, false);
  REQUIRE(json.is_object());
  CHECK(json["finished"] == true);
  CHECK(json["experiment"]["fusion_size"] == "1MB");
  CHECK(json["experiment"]["barrier"] == false);
  CHECK(json["experiment_file"] == scene.file.name());
  // Each topology and trace appears once, in full. Rows refer to it by its hash.
  CHECK(json["topologies"].size() == 2);
  CHECK(json["traces"].size() == 1);
  const auto& row = json["rows"][4];
  const auto& topology = json["topologies"][row["topology"].get<std::string>()];
  CHECK(topology["groups"][1]["count"] == 3);
  CHECK(topology["network"]["latency"] == "0s");
  CHECK(json["traces"][row["trace"].get<std::string>()]["layers"][1]["forward"] == "1ms");
  CHECK(json["sweep"]["topology.groups.cpu.count"] == nlohmann::json::array({0, 3}));
  CHECK(json["rows"].size() == 10);
  CHECK(json["failed"].empty());
  REQUIRE(json["impossible"].size() == 2);
  CHECK(json["impossible"][0]["strategy"] == "ps");
  CHECK(json["impossible"][0]["values"]["topology.groups.cpu.count"] == 0);
  CHECK_FALSE(json["impossible"][0]["why"].get<std::string>().empty());
  const auto& ring = json["rows"][2];
  CHECK(ring["speedup"] == 1.0);
  CHECK(ring["links"].size() == 2);  // one out of a machine and one in, of six links
  CHECK_FALSE(ring.contains("timeline"));
  // The timeline shows the last point with the first seed.
  const auto& drawn = json["rows"][6];
  CHECK(drawn["timeline"] == "timeline-ring-topology.groups.cpu.count=3-seed1.json");
  CHECK(read_document(scene.folder.path() + "/" + drawn["timeline"].get<std::string>()));
  CHECK(ring["iteration_ns"].get<std::int64_t>() >= ring["bound_ns"].get<std::int64_t>());
  // Three GPU machines with 1 GB/s in and out: n/(2(n-1)) of that.
  CHECK(ring["goodput_bound_bytes_per_s"] == 750'000'000);
  CHECK(ring["goodput_bytes_per_s"].get<std::int64_t>() <= 750'000'000);
  CHECK(json["rows"][0]["speedup"].get<double>() ==
        Approx(ring["iteration_ns"].get<double>() / json["rows"][0]["iteration_ns"].get<double>()));
}

TEST_CASE("runs that have not ended are missing in the files, and the files say so") {
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

TEST_CASE("the experiment of all rows leaves out what the sweep varies") {
  std::string text = kExperiment;
  text.replace(text.find("[0, 3]}"), 7,
               R"([0, 3], "partition_size": ["50KB"], "model.compute_jitter": [0, 0.1]})");
  const Scene scene(text);
  const auto json = nlohmann::json::parse(scene.results().json(), nullptr, false);
  CHECK_FALSE(json["experiment"].contains("partition_size"));
  CHECK_FALSE(json["experiment"]["model"].contains("compute_jitter"));
  CHECK(json["experiment"]["model"].contains("message_overhead"));
  CHECK(json["sweep"]["model.compute_jitter"] == nlohmann::json::array({0, 0.1}));
}

TEST_CASE("every timeline is drawn where the experiment asks for all") {
  std::string text = kExperiment;
  text.insert(text.find("\"timelines\""), "\"timeline_points\": \"all\", ");
  const Scene scene(text);
  const Results results = scene.results();
  const auto& runs = results.runs();
  CHECK(std::count_if(runs.begin(), runs.end(), [](const Run& run) { return !run.trial.timeline.empty(); }) ==
        4);
}

TEST_CASE("rows of a point that is not complete have their speed-up once the baseline has run") {
  const Scene scene;
  Results results = scene.results();
  const auto row = [](std::int64_t iteration_ns) {
    Outcome outcome{Outcome::Kind::kRow, {}, {}};
    outcome.row.iteration_ns = iteration_ns;
    return outcome;
  };
  results.add(0, row(50));  // unified
  CHECK_FALSE(results.runs()[0].outcome->row.speedup);
  results.add(2, row(100));  // ring, the baseline
  CHECK(results.runs()[0].outcome->row.speedup == 2.0);
  CHECK(results.runs()[2].outcome->row.speedup == 1.0);
}

TEST_CASE("the files hold runs that have ended, and replace earlier files only once one has") {
  const Scene scene;
  const Folder out;
  const auto held = [&](const std::string& name) { return read_text(out.path() + "/" + name); };
  for (const char* name :
       {"results.csv", "results.csv.part", "overview.png", "links.pdf", "timeline-ps-old.json",
        "timeline-ps-old.png", "results.json.bak", "timeline-notes.json", "overview.txt"}) {
    out.write(name, "old");
  }
  out.write("results.json", R"({"rows": [{"timeline": "timeline-ps-old.json"}]})");
  Results results(scene.file, configuration_of(scene.file).value(), out.path(), kToyWorld);
  ResultFiles files(results, out.path());
  REQUIRE(files.prepare());
  REQUIRE(files.finish());
  CHECK(held("results.csv").value() == "old");  // no run has ended yet

  for (std::size_t i = 0; i < results.study().runs_per_point(); ++i) {
    results.add(i, {Outcome::Kind::kImpossible, {}, "no"});
    files.update(0);
  }
  CHECK(held("results.json").value() == results.json());  // the point is complete
  for (const char* name :
       {"results.csv.part", "overview.png", "links.pdf", "timeline-ps-old.json", "timeline-ps-old.png"}) {
    INFO(name);
    CHECK_FALSE(held(name));
  }
  for (const char* name : {"results.json.bak", "timeline-notes.json", "overview.txt"}) {
    INFO(name);
    CHECK(held(name).value() == "old");
  }
  results.add(results.study().runs_per_point(), {Outcome::Kind::kImpossible, {}, "no"});
  REQUIRE(files.finish());
  CHECK(held("results.json").value() == results.json());
  CHECK(held("results.csv").value() == results.csv());
}

TEST_CASE("a machine that fails ends the runs of strategies that use it, and of no others") {
  const Scene scene;
  const Experiment experiment = scene.file.experiment(scene.file.point(1)).value();
  const Cluster cluster(experiment.topology);
  const Workload workload(experiment.trace);
  for (const auto& [name, goes_on] : {std::pair("ring", true), {"unified", false}}) {
    const Plan plan = (*strategy_named(name))->plan(cluster, workload, experiment.options).value();
    SimulationSettings settings{dispatch_of(**strategy_named(name), experiment.options), experiment.model, 3};
    settings.conditions.stops = {{"cpu[1]", {Duration(1'000'000), {}, {}}}};
    const auto record = toy_run(plan, cluster, settings);
    CHECK(record.has_value() == goes_on);
    if (!record) CHECK_THAT(record.error().text, has_text("cpu[1] fails at 1ms"));
  }
}

TEST_CASE(
    "runs with one seed compute equally long whatever the strategy, and no run exposes less than nothing") {
  const Scene scene;
  Experiment experiment = scene.file.experiment(scene.file.point(1)).value();
  experiment.model.compute_jitter = 0.5;
  experiment.iterations = 3;
  using Key = std::tuple<std::size_t, OpKind, int, int>;
  std::map<Key, std::int64_t> first;
  for (const char* name : {"ring", "unified", "ps"}) {
    const Cluster cluster(experiment.topology);
    const Workload workload(experiment.trace);
    const Plan plan = (*strategy_named(name))->plan(cluster, workload, experiment.options).value();
    SimulationSettings settings{dispatch_of(**strategy_named(name), experiment.options), experiment.model, 3};
    const Record record = toy_run(plan, cluster, settings).value();
    std::map<Key, std::int64_t> computed;
    for (const Op& op : plan.ops()) {
      for (int i = 0; is_compute(op.kind) && i < 3; ++i) {
        const OpRecord& times = record.of(op.id, i);
        // In microseconds, because instants are rounded to nanoseconds.
        computed[{op.machine.index(), op.kind, op.layer, i}] =
            ((times.completed - times.started).ns() + 500) / 1000;
      }
    }
    CHECK(computed.size() == 3UL * 2 * 2 * 3);
    if (first.empty()) first = computed;
    CHECK(computed == first);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Outcome outcome = run({name, seed, ""}, experiment, kToyWorld);
      REQUIRE(outcome.kind == Outcome::Kind::kRow);
      CHECK(outcome.row.exposed_communication_ns >= 0);
      CHECK(outcome.row.exposed_communication_ns == outcome.row.iteration_ns - outcome.row.compute_ns);
    }
  }
  CHECK(first[Key(0, OpKind::kBackward, 0, 0)] != first[Key(1, OpKind::kBackward, 0, 0)]);
  CHECK(first[Key(0, OpKind::kBackward, 0, 0)] != first[Key(0, OpKind::kBackward, 0, 1)]);
}

TEST_CASE("more iterations than memory holds are refused") {
  const Scene scene;
  Experiment experiment = scene.file.experiment(scene.file.point(0)).value();
  experiment.iterations = 1'000'000'000;
  const Outcome outcome = run({"ring", 1, ""}, experiment, kToyWorld);
  CHECK(outcome.kind == Outcome::Kind::kFailed);
  CHECK_THAT(outcome.text, has_text("probably exceed memory"));
}

TEST_CASE("a plan too large for memory fails before it is made") {
  const Scene scene;
  Experiment experiment = scene.file.experiment(scene.file.point(0)).value();
  experiment.trace.layers[0].tensors[0].elements = 10'000'000'000;
  experiment.options.partition_size = experiment.options.finest_part = Bytes(1000);
  const Outcome outcome = run({"ps", 1, ""}, experiment, kToyWorld);
  CHECK(outcome.kind == Outcome::Kind::kFailed);
  CHECK_THAT(outcome.text, has_text("raise partition_size and finest_part"));
}

TEST_CASE("comments in results.csv stay comments, whatever they quote") {
  std::string text = kExperiment;
  text.replace(text.find("Do CPU"), 6, "Do\\n\\rCPU");
  const Scene scene(text);
  std::istringstream stream(scene.results().csv());
  std::string all;
  int plain = 0;
  for (std::string line; std::getline(stream, line);) {
    all += line;
    if (!line.starts_with("# ")) ++plain;
  }
  CHECK(plain == 1);  // the titles
  CHECK(all.find('\r') == std::string::npos);
  CHECK_THAT(all, has_text("# ?CPU machines help?"));
}

TEST_CASE("a file that cannot be written says why, and leaves nothing unfinished") {
  const Folder folder;
  const std::string file = folder.path() + "/results.csv";
  std::filesystem::create_symlink("/dev/full", file + ".part");
  CHECK(write_text(file, "text").error().text == file + ": cannot be written: No space left on device");
  CHECK_FALSE(std::filesystem::is_symlink(file + ".part"));
  CHECK(write_text(folder.path() + "/none/results.csv", "").error().text ==
        folder.path() + "/none/results.csv: cannot be written: No such file or directory");
}

TEST_CASE("a run that beats its bound is an error") {
  const Scene scene;
  const Experiment experiment = scene.file.experiment(scene.file.point(0)).value();
  const Outcome outcome = run({"ring", 1, ""}, experiment, kWrongWorld);
  CHECK(outcome.kind == Outcome::Kind::kFailed);
  CHECK_THAT(outcome.text,
             Catch::Matchers::StartsWith("the simulation beat its bound: its first iteration took 0s, but "));
}

}  // namespace
}  // namespace weir
