#include "core/experiment/experiment_file.h"

#include <nlohmann/json.hpp>

#include "core/base/units_text.h"
#include "tests/catch.h"
#include "tests/core/experiment/folder.h"

namespace weir {
namespace {

using namespace weir::literals;

constexpr const char* kTopology = R"({"name": "lab", "groups": [
  {"name": "gpu", "count": 2, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "8Gbps"}]},
  {"name": "cpu", "count": 1, "nics": [{"at": "numa0", "rate": "8Gbps"}]}]})";

constexpr const char* kTrace = R"({"name": "net", "layers": [
  {"name": "a", "forward": "1ms", "backward": "2ms", "tensors": [{"name": "w", "elements": 1000}]}]})";

/// A folder with a topology, a trace, and an experiment that has these lines from line 2 on.
class Files {
 public:
  explicit Files(const std::string& lines) {
    folder_.write("lab.json", kTopology);
    folder_.write("net.json", kTrace);
    folder_.write("experiment.json",
                  "{\"topology\": \"lab.json\", \"trace\": \"net.json\",\n" + lines + "}\n");
  }

  Result<ExperimentFile> read(const std::vector<std::string>& settings = {}) const {
    std::vector<Setting> parsed;
    for (const std::string& text : settings) parsed.push_back(parse_setting(text).value());
    return ExperimentFile::read(folder_.path(), parsed);
  }

  /// What is wrong with the file or with the first of its points that is wrong, without the folder's name.
  std::string error(const std::vector<std::string>& settings = {}) const {
    const auto file = read(settings);
    std::string text = file ? "" : file.error().text;
    for (std::size_t i = 0; file && i < file->points() && text.empty(); ++i) {
      const auto experiment = file->experiment(file->point(i));
      if (!experiment) text = experiment.error().text;
    }
    const std::string prefix = folder_.path() + "/";
    for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
      text.erase(at, prefix.size());
    return text.empty() ? "no error" : text;
  }

  const Folder& folder() const { return folder_; }

 private:
  Folder folder_;
};

TEST_CASE("an experiment takes its defaults from the structs and its files from beside it") {
  const Files files("\"question\": \"Why?\"");
  const auto file = files.read().value();
  CHECK(file.points() == 1);
  CHECK(file.point(0).empty());
  const Experiment experiment = file.experiment({}).value();
  CHECK(experiment.question == "Why?");
  CHECK(experiment.topology.name == "lab");
  CHECK(experiment.trace.name == "net");
  CHECK(experiment.strategies.size() == 7);
  CHECK(experiment.options.partition_size == Options{}.partition_size);
  CHECK(experiment.options.credit == Options{}.credit);
  CHECK(experiment.model.message_overhead == Model{}.message_overhead);
}

TEST_CASE("every option of an experiment can be written") {
  const Files files(R"("strategies": ["ps", "ring", "ps"], "baseline": "ps", "partition_size": "1MB",
    "finest_part": "64KiB", "fusion_size": "8MB", "credit": "unlimited", "policy": "fifo", "local": "reduce",
    "barrier": true, "iterations": 3, "warm_up": 2, "seeds": [4, 5], "model": {"message_overhead": "5us",
    "compute_jitter": 0.1}, "timelines": ["ring"], "prove": false)");
  const Experiment experiment = files.read().value().experiment({}).value();
  CHECK(experiment.strategies == std::vector<std::string>{"ps", "ring"});
  CHECK(experiment.options.credit == std::nullopt);
  CHECK(experiment.options.policy == Policy::kFifo);
  CHECK(experiment.options.local == LocalStage::kReduce);
  CHECK(experiment.model.compute_jitter == 0.1);
  const auto written = write_experiment(experiment);
  CHECK(written["credit"] == "unlimited");
  CHECK(written["fusion_size"] == "8MB");
  CHECK(written["topology"]["groups"][1]["count"] == 1);
  CHECK(written["trace"]["bytes"] == 4000);
  CHECK(written["hashes"]["trace"].get<std::string>().size() == 16);
}

TEST_CASE(
    "a sweep is the product of its lists, the last varying fastest, and reaches into topology and trace") {
  const Files files(
      R"("sweep": {"topology.groups.cpu.count": [0, 3], "model.message_overhead": ["0us", "5us"],
    "trace.layers.a.forward": ["7ms"]})");
  const auto file = files.read().value();
  REQUIRE(file.points() == 4);
  CHECK(label(file.point(2)) ==
        "topology.groups.cpu.count=3 model.message_overhead=0us trace.layers.a.forward=7ms");
  const Experiment experiment = file.experiment(file.point(3)).value();
  CHECK(experiment.topology.groups[1].count == 3);
  CHECK(experiment.model.message_overhead == 5_us);
  CHECK(experiment.trace.layers[0].forward == 7_ms);
  CHECK(file.experiment({}).value().topology.groups[1].count == 1);
}

TEST_CASE("whole topologies and traces can be swept, and shown by their names") {
  const Files files(R"("sweep": {"topology.groups.cpu.count": [5], "topology": ["lab.json", "small.json"]})");
  files.folder().write("small.json", R"({"name": "small", "groups": [{"name": "cpu", "count": 1},
    {"name": "gpu", "count": 0, "gpus": [{"at": "numa0"}]}]})");
  const auto error = files.error();
  CHECK(error == "small.json:1: groups[0]: a machine among several needs a NIC; add it to 'nics'");
  const auto file = files.read().value();
  CHECK(label(file.point(1)) == "topology.groups.cpu.count=5 topology=small.json");
  CHECK(file.experiment(file.point(0)).value().topology.groups[1].count == 5);
}

TEST_CASE("settings replace what the file says, and a sweep along their path") {
  const Files files(
      R"("partition_size": "2MB", "sweep": {"credit": [1, 2], "policy": ["fifo", "priority"]})");
  const auto file =
      files.read({"credit=unlimited", "partition_size=1MB", "topology.groups.cpu.count=4"}).value();
  CHECK(file.points() == 2);
  const Experiment experiment = file.experiment(file.point(1)).value();
  CHECK(experiment.options.credit == std::nullopt);
  CHECK(experiment.options.partition_size == 1_MB);
  CHECK(experiment.topology.groups[1].count == 4);
  CHECK(files.error({"topology.groups.cpus.count=4"}) ==
        "topology.groups.cpus.count: topology.groups has no 'cpus'; there are 'gpu', 'cpu'");
  CHECK(parse_setting("credit").error().text == "'credit' sets nothing; try partition_size=4MB");
}

TEST_CASE("all mistakes of an experiment are told at their lines") {
  const Files files(R"("strategies": ["all", "rnig"],
"credit": "lots", "partition_size": "10B",
"seeds": [1, 1], "timelines": ["ring"],
"barier": true)");
  CHECK(
      files.error() ==
      "experiment.json:5: unknown key 'barier'; did you mean 'barrier'?\n"
      "experiment.json:2: strategies[1]: there is no strategy 'rnig'; did you mean 'ring'?\n"
      "experiment.json:3: partition_size: 10B is too small; at least 1KB\n"
      "experiment.json:3: credit: expected an integer of at least 1, or 'unlimited', not the string 'lots'\n"
      "experiment.json:4: seeds[1]: 1 stands here twice");
}

TEST_CASE("a wrong swept value is told at the line of the sweep") {
  CHECK(Files("\"sweep\": {\n\"topology.groups.cpu.count\": [0,\n-1]}").error() ==
        "experiment.json:4: groups[1].count: -1 is too small; at least 0");
  CHECK(Files("\"sweep\": {\n\"partition_sizes\": [\"1MB\"]}").error() ==
        "experiment.json:3: unknown key 'partition_sizes'; did you mean 'partition_size'?");
  CHECK(
      Files("\"sweep\": {\n\"topology.groups.gpus.count\": [1]}").error() ==
      "experiment.json:3: topology.groups.gpus.count: topology.groups has no 'gpus'; there are 'gpu', 'cpu'");
}

TEST_CASE("a sweep is an object of lists of different values, of what can be swept") {
  CHECK(Files("\"sweep\": [1]").error() ==
        "experiment.json:2: sweep: expected an object of lists, not an array");
  CHECK(Files("\"sweep\": {\"credit\": 4}").error() ==
        "experiment.json:2: sweep.credit: expected a list of values, not the integer 4");
  CHECK(Files("\"sweep\": {\"credit\": []}").error() ==
        "experiment.json:2: sweep.credit: expected a list of values, not an empty one");
  CHECK(Files("\"sweep\": {\"credit\": [4,\n4]}").error() ==
        "experiment.json:3: sweep.credit: 4 stands here twice");
  CHECK(Files("\"sweep\": {\"strategies\": [[\"ps\"]]}").error() ==
        "experiment.json:2: sweep.strategies: 'strategies' cannot be swept");
}

TEST_CASE("a file that is not there is told where it is named") {
  const Folder folder;
  const std::string file = folder.write("e.json", "{\"trace\": {},\n\"topology\": \"none/lab.json\"}");
  CHECK(ExperimentFile::read(file).error().text ==
        file + ":2: topology: there is no file " + folder.path() + "/none/lab.json");
  CHECK(ExperimentFile::read(folder.path() + "/f.json").error().text ==
        folder.path() + "/f.json: there is no such file to read");
}

TEST_CASE("an experiment may hold its topology and trace itself") {
  const Folder folder;
  const std::string file = folder.write("e.json", fmt::format("{{\"topology\": {},\n\"trace\": {}}}",
                                                              kTopology, R"({"name": "n", "layers": []})"));
  const auto experiment = ExperimentFile::read(file).value().experiment({});
  REQUIRE_FALSE(experiment);
  CHECK(experiment.error().text == file + ":4: trace.layers: there is no layer; give at least one");
}

TEST_CASE("every shipped experiment is right at every point") {
  int count = 0;
  const std::string root = std::string(WEIR_SOURCE_DIR) + "/experiments";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".json") continue;
    INFO(entry.path().string());
    const auto file = ExperimentFile::read(entry.path().string());
    if (!file) FAIL(file.error().text);
    for (std::size_t i = 0; i < file->points(); ++i) {
      const auto experiment = file->experiment(file->point(i));
      if (!experiment) FAIL(experiment.error().text);
      CHECK_FALSE(experiment->question.empty());
    }
    ++count;
  }
  CHECK(count >= 1);
}

TEST_CASE("the committed schema of experiments is the one that the program writes") {
  // build/.../weir check --schema experiment > schemas/experiment.schema.json
  CHECK(read_text(std::string(WEIR_SOURCE_DIR) + "/schemas/experiment.schema.json").value() ==
        experiment_schema());
}

}  // namespace
}  // namespace weir
