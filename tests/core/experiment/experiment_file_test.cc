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
  CHECK(experiment.strategies.size() == strategies().size());
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
  CHECK(written["topology"] == hashed(experiment.topology).hash);
  CHECK(written["trace"].get<std::string>().size() == 16);
  CHECK(nlohmann::json::parse(hashed(experiment.topology).text)["groups"][1]["count"] == 1);
  CHECK(nlohmann::json::parse(hashed(experiment.trace).text)["layers"][0]["forward"] == "1ms");
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

TEST_CASE("paths with commas between them are swept together") {
  const std::string both = "topology.groups.gpu.count, topology.groups.cpu.count";
  const Files files("\"sweep\": {\"" + both + "\": [2, 3], \"policy\": [\"fifo\", \"priority\"]}");
  const auto file = files.read().value();
  REQUIRE(file.points() == 4);
  CHECK(label(file.point(2)) == both + "=3 policy=fifo");
  const Experiment experiment = file.experiment(file.point(2)).value();
  CHECK(experiment.topology.groups[0].count == 3);
  CHECK(experiment.topology.groups[1].count == 3);
  const std::string set = "topology.groups.cpu.count,topology.groups.gpu.count=4";
  CHECK(files.read({set}).value().points() == 2);
  CHECK(files.error({"topology.groups.cpu.count=4"}) ==
        "experiment.json:2: sweep." + both + ": these are swept together: set all of them or none");
  const Files twice(R"("sweep": {"credit, policy": [1], "policy": ["fifo"]})");
  CHECK(twice.error() == "experiment.json:2: sweep.policy: this is the same as 'policy'");
  const Files whole(R"("sweep": {"credit, topology": [1]})");
  CHECK(whole.error() == "experiment.json:2: sweep.credit, topology: 'topology' is swept alone");
}

// An experiment of two points with this curve.
std::string with_curve(const std::string& curve) {
  return R"("strategies": ["unified", "ps"], "sweep": {"credit": [1, 2]},
    "published": {"source": "a paper", "calibrated_on": "nothing", "curves": [)" +
         curve + "]}";
}

TEST_CASE("published values are numbers in the unit of their measure, one for each point") {
  const Files files(with_curve(
      R"({"strategy": "ps", "measure": "iteration", "values": [null, "4ms"], "tolerance": 0.1},
         {"strategy": "unified", "measure": "goodput", "values": ["8Gbps", null], "tolerance": 0},
         {"strategy": "unified", "measure": "throughput", "values": [7, 1.5], "tolerance": 0})"));
  const Published published = files.read()->experiment({}).value().published.value();
  REQUIRE(published.curves.size() == 3);
  CHECK(published.curves[0].numbers == std::vector<std::optional<double>>{std::nullopt, 0.004});
  CHECK(published.curves[1].numbers == std::vector<std::optional<double>>{1e9, std::nullopt});
  CHECK(published.curves[2].numbers == std::vector<std::optional<double>>{7.0, 1.5});
  CHECK_FALSE(files.read({"credit=3"})->experiment({}).value().published);
}

TEST_CASE("published values that fit no run are told") {
  const auto error = [](const std::string& curve) { return Files(with_curve(curve)).error(); };
  CHECK(
      error(R"({"strategy": "ring", "measure": "speedup", "values": [1, 2], "tolerance": 0})") ==
      "experiment.json:3: published.curves[0].strategy: 'ring' is not among the strategies 'unified', 'ps'");
  CHECK(error(R"({"strategy": "ps", "measure": "speedup", "values": [1], "tolerance": 0})") ==
        "experiment.json:3: published.curves[0].values: there are 1 values, and the sweep has 2 points");
  CHECK(
      error(R"({"strategy": "ps", "measure": "iteration", "values": [5, "1mss"], "tolerance": 0})") ==
      "experiment.json:3: published.curves[0].values[0]: expected text such as '1400ms', not the integer 5\n"
      "experiment.json:3: published.curves[0].values[1]: '1mss' is no duration; try 1ms");
  CHECK(error(R"({"strategy": "ps", "measure": "speedup", "values": [-1, 2], "tolerance": 2})") ==
        "experiment.json:3: published.curves[0].tolerance: 2 is too large; at most 1\n"
        "experiment.json:3: published.curves[0].values[0]: expected a number above 0, or null, not the "
        "integer -1");
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
        "--set topology.groups.cpus.count: topology.groups has no 'cpus'; there are 'gpu', 'cpu'");
  CHECK(parse_setting("credit").error().text == "'credit' sets nothing; try partition_size=4MB");
}

TEST_CASE("settings hold at every point of a sweep over whole topologies") {
  const Files files(
      R"("sweep": {"topology": ["lab.json", "large.json"], "topology.groups.1.count": [1, 2]})");
  files.folder().write("large.json", R"({"name": "large", "network": {"latency": "1us"}, "groups": [
    {"name": "gpu", "count": 8, "gpus": [{"at": "numa0"}], "nics": [{"at": "numa0", "rate": "8Gbps"}]},
    {"name": "cpu", "count": 8, "nics": [{"at": "numa0", "rate": "8Gbps"}]},
    {"name": "more", "count": 8, "nics": [{"at": "numa0", "rate": "8Gbps"}]}]})");
  const auto file = files.read({"topology.groups.gpu.count=16", "topology.network.latency=50us"}).value();
  REQUIRE(file.points() == 4);
  for (std::size_t i = 0; i < file.points(); ++i) {
    const Topology topology = file.experiment(file.point(i)).value().topology;
    CHECK(topology.groups[0].count == 16);
    CHECK(topology.groups[1].count == (i % 2 == 0 ? 1 : 2));
    CHECK(topology.network.latency == 50_us);
  }
  // What only some have is told of the others.
  CHECK(files.error({"topology.groups.more.count=1"}) ==
        "--set topology.groups.more.count: topology.groups has no 'more'; there are 'gpu', 'cpu'");
  CHECK(files.error({"topology.groups.more.count=1", "topology=" + files.folder().path() + "/large.json"}) ==
        "no error");
}

TEST_CASE(
    "a setting replaces a sweep that reaches the same by another path, and no sweep within what it sets") {
  const Files files(R"("sweep": {"topology.groups.cpu.count": [0, 3], "model.compute_jitter": [0.1, 0.2]})");
  const auto file = files.read({"topology.groups.1.count=4", R"(model={"message_overhead": "5us"})"}).value();
  REQUIRE(file.points() == 2);
  const Experiment experiment = file.experiment(file.point(1)).value();
  CHECK(experiment.topology.groups[1].count == 4);
  CHECK(experiment.model.message_overhead == 5_us);
  CHECK(experiment.model.compute_jitter == 0.2);
  CHECK(Files(R"("sweep": {"topology.groups.cpu.count": [0],
    "topology.groups.1.count": [1]})")
            .error() ==
        "experiment.json:3: sweep.topology.groups.1.count: this is the same as 'topology.groups.cpu.count'");
}

TEST_CASE(
    "settings make the objects that a file leaves out, and are told by their paths where they are wrong") {
  const Files files("\"question\": \"Why?\"");
  const auto file = files.read({"topology.network.latency=5us", "model.compute_jitter=0.1"}).value();
  CHECK(file.experiment({}).value().topology.network.latency == 5_us);
  CHECK(files.error({"topology.networks.latency=5us"}) ==
        "--set topology.networks.latency: unknown key 'networks'; did you mean 'network'?");
  CHECK(files.error({R"(model={"foo": 1})"}) ==
        "--set model: foo: unknown key 'foo'; the keys here are 'message_overhead', 'compute_jitter'");
  CHECK(files.error({"topology.groups.cpu.count=-1"}) ==
        "--set topology.groups.cpu.count: -1 is too small; at least 0");
  CHECK(files.error({"credit=0"}) ==
        "--set credit: expected an integer from 1 to 1000000, or 'unlimited', not the integer 0");
  CHECK(parse_setting("policy=\xff").error().text == "what it sets is no text in UTF-8");
}

TEST_CASE("what the reader complains of is complained of once") {
  CHECK(
      Files("\"strategies\": [1], \"seeds\": [\"a\", \"b\"]").error() ==
      "experiment.json:2: seeds[0]: expected an integer, not the string 'a'\n"
      "experiment.json:2: seeds[1]: expected an integer, not the string 'b'\n"
      "experiment.json:2: strategies[0]: expected a strategy's name, or an object with 'name' and 'as', not "
      "the integer 1");
}

TEST_CASE("sizes and counts have a greatest value, and complaints name it") {
  CHECK(Files(R"("partition_size": "2TB", "credit": 2000000000,
    "iterations": 1000000000, "warm_up": 2147483647)")
            .error() ==
        "experiment.json:3: iterations: 1000000000 is too large; at most 10000\n"
        "experiment.json:3: warm_up: 2147483647 is too large; at most 10000\n"
        "experiment.json:2: partition_size: 2TB is too large; at most 1TB\n"
        "experiment.json:2: credit: expected an integer from 1 to 1000000, or 'unlimited', not the integer "
        "2000000000");
}

TEST_CASE("the baseline is one of the strategies") {
  CHECK(Files(R"("strategies": ["ps", "unified"], "baseline": "ring")").error() ==
        "experiment.json:2: baseline: 'ring' is not among the strategies; name one of 'ps', 'unified', or "
        "leave "
        "it out");
  const Files files(R"("strategies": ["ps", "unified"])");
  CHECK(files.read().value().experiment({}).value().baseline == "ps");
  CHECK(files.read({R"(strategies=["ps", "ring"])"}).value().experiment({}).value().baseline == "ring");
}

TEST_CASE("what is wrong with experiment, topology, trace and every point is told in one go, each once") {
  const Files files(R"("strategies": ["rnig"],
"sweep": {"policy": ["lifo", "fifo"], "credit": [0]})");
  files.folder().write("lab.json", R"({"name": "lab", "groups": [{"name": "gpu", "count": -1}]})");
  files.folder().write("net.json", R"({"name": "net"})");
  const auto all = files.read().value().each_point([](const Experiment&) {});
  REQUIRE_FALSE(all);
  const std::string& text = all.error().text;
  for (const char* part : {"no strategy 'rnig'", "not the string 'lifo'", "not the integer 0",
                           "-1 is too small", "'layers' is missing"}) {
    CHECK_THAT(text, has_text(part));
  }
  CHECK(text.find("rnig") == text.rfind("rnig"));
}

TEST_CASE("all mistakes of an experiment are told at their lines") {
  const Files files(R"("strategies": ["all", "rnig"],
"credit": "lots", "partition_size": "10B",
"seeds": [1, 1], "timelines": ["ring"],
"barier": true)");
  CHECK(files.error() ==
        "experiment.json:5: unknown key 'barier'; did you mean 'barrier'?\n"
        "experiment.json:3: partition_size: 10B is too small; at least 1KB\n"
        "experiment.json:3: credit: expected an integer from 1 to 1000000, or 'unlimited', not the string "
        "'lots'\n"
        "experiment.json:2: strategies[1]: there is no strategy 'rnig'; did you mean 'ring'?\n"
        "experiment.json:4: seeds[1]: 1 stands here twice");
}

TEST_CASE("a strategy may stand in the list several times, under names and options of its own") {
  const Files files(
      R"("strategies": ["ps", {"name": "ps", "as": "P3", "partition_size": "160KB", "credit": 1}],
    "baseline": "P3", "timelines": ["all"], "policy": "fifo", "sweep": {"credit": [2, 3]})");
  const auto file = files.read().value();
  const Experiment experiment = file.experiment(file.point(1)).value();
  CHECK(experiment.strategies == std::vector<std::string>{"ps", "P3"});
  CHECK(experiment.timelines == experiment.strategies);
  CHECK(experiment.baseline == "P3");
  const Contender plain = contender(experiment, "ps").value();
  const Contender own = contender(experiment, "P3").value();
  CHECK(own.strategy == plain.strategy);
  CHECK(plain.options.credit == 3);
  CHECK(own.options.credit == 1);
  CHECK(own.options.partition_size == 160_KB);
  CHECK(own.options.policy == Policy::kFifo);  // the experiment's
  CHECK(write_experiment(experiment)["strategies"][1]["as"] == "P3");
  CHECK(contender(experiment, "P4").error().text.ends_with(", mxnet-ps, P3"));
}

TEST_CASE("what is wrong with a strategy's own options is told at their lines") {
  CHECK(Files(R"("strategies": [{"name": "sp", "as": "a"},
    {"name": "ps", "as": "ring"}, {"name": "ps"},
    {"name": "ddp", "as": "b", "policy": "priority", "credit": 4, "bucket_size": "1MB"},
    {"name": "ps", "as": "c", "partition_size": "1B", "credits": 1}, {"name": "ps", "as": "d", "credit": 0}])")
            .error() ==
        "experiment.json:2: strategies[0].name: there is no strategy 'sp'; did you mean 'ps'?\n"
        "experiment.json:3: strategies[1].as: 'ring' is the name of another; try another\n"
        "experiment.json:3: strategies[2]: 'as' is missing: what it is called here\n"
        "experiment.json:4: strategies[3].policy: ddp always has \"fifo\"; leave it out\n"
        "experiment.json:4: strategies[3].credit: ddp always has \"unlimited\"; leave it out\n"
        "experiment.json:5: strategies[4]: unknown key 'credits'; did you mean 'credit'?\n"
        "experiment.json:5: strategies[5].credit: expected an integer from 1 to 1000000, or 'unlimited', not "
        "the "
        "integer 0");
}

TEST_CASE("a wrong swept value is told at the line of the sweep") {
  CHECK(Files("\"sweep\": {\n\"topology.groups.cpu.count\": [0,\n-1]}").error() ==
        "experiment.json:4: sweep.topology.groups.cpu.count[1]: -1 is too small; at least 0");
  CHECK(Files("\"sweep\": {\n\"partition_sizes\": [\"1MB\"]}").error() ==
        "experiment.json:3: sweep.partition_sizes[0]: unknown key 'partition_sizes'; did you mean "
        "'partition_size'?");
  CHECK(Files("\"sweep\": {\n\"topology.groups.gpus.count\": [1]}").error() ==
        "experiment.json:3: sweep.topology.groups.gpus.count[0]: topology.groups has no 'gpus'; there are "
        "'gpu', 'cpu'");
}

TEST_CASE("a wrong value within a swept or set object is told by its path there") {
  CHECK(Files("\"sweep\": {\n\"model\": [{\"compute_jitter\": 0},\n{\"compute_jitter\": 2}]}").error() ==
        "experiment.json:4: sweep.model[1].compute_jitter: 2 is too large; at most 1");
  CHECK(Files("\"sweep\": {\n\"topology.groups.0.nics\": [[{\"at\": \"numa7\", \"rate\": \"8Gbps\"}]]}")
            .error() ==
        "experiment.json:3: sweep.topology.groups.0.nics[0][0].at: there is no 'numa7' in group 'gpu'; there "
        "are "
        "'numa0'");
  CHECK(Files("\"question\": \"\"").error({R"(model={"compute_jitter": 2})"}) ==
        "--set model: compute_jitter: 2 is too large; at most 1");
}

TEST_CASE("a sweep has so many points that all can be checked before the first runs") {
  std::string values = "1";
  for (int i = 2; i <= 101; ++i) values += fmt::format(", {}", i);
  CHECK(Files(fmt::format("\"sweep\": {{\"credit\": [{0}], \"iterations\": [{0}]}}", values)).error() ==
        "experiment.json:2: sweep: it has 10201 points; at most 10000: leave values out, or split it into "
        "several "
        "experiments");
  for (int i = 102; i <= 10'001; ++i) values += fmt::format(", {}", i);
  CHECK(Files(fmt::format("\"sweep\": {{\"credit\": [{}]}}", values)).error() ==
        "experiment.json:2: sweep.credit: it has 10001 points; at most 10000: leave values out, or split it "
        "into "
        "several experiments");
  CHECK(Files(fmt::format("\"seeds\": [{}], \"sweep\": {{\"policy\": [\"fifo\", \"priority\"]}}", values))
            .error() ==
        "experiment.json:1: these are 220022 runs; at most 100000: leave out seeds, strategies or values of "
        "the "
        "sweep");
}

TEST_CASE("an exchange that would take months is refused, and what binds it is said") {
  const Files files("\"question\": \"\"");
  CHECK(files.error({"trace.layers.0.tensors.0.elements=1000000000000",
                     "topology.groups.gpu.nics.0.rate=\"1Mbps\""}) ==
        "lab.json:1: over its slowest link or sum, of 1Mbps, the gradients of all machines (4 TB each) may "
        "take "
        "1.92e+08 s; at most 10000000s: raise that rate, or take a smaller model");
}

TEST_CASE("a swept value stands on one line") {
  CHECK(Files(R"("sweep": {"topology.source": ["a\nb"]})").error() ==
        "experiment.json:2: sweep.topology.source[0]: expected a value without control characters");
}

TEST_CASE("a file of another kind is told as what it is") {
  const Files files("\"question\": \"\"");
  const std::string folder = files.folder().path();
  CHECK(ExperimentFile::read(folder + "/net.json").error().text ==
        folder + "/net.json:1: this is a trace; expected an experiment");
  files.folder().write("experiment.json", R"({"topology": "net.json", "trace": "lab.json"})");
  CHECK(files.error() ==
        "net.json:1: this is a trace; expected a topology\n"
        "lab.json:1: this is a topology; expected a trace");
}

TEST_CASE("a sweep is an object of lists of different values, of what can be swept") {
  CHECK(Files("\"sweep\": [1]").error() ==
        "experiment.json:2: sweep: expected an object of lists, not an array");
  CHECK(Files("\"sweep\": {\"credit\": 4}").error() ==
        "experiment.json:2: sweep.credit: expected a list of values, not the integer 4");
  CHECK(Files("\"sweep\": {\"credit\": []}").error() ==
        "experiment.json:2: sweep.credit: expected a list of values, not an empty one");
  CHECK(Files("\"sweep\": {\"credit\": [4,\n4]}").error() ==
        "experiment.json:3: sweep.credit[1]: 4 stands here twice");
  CHECK(Files("\"sweep\": {\"strategies\": [[\"ps\"]]}").error() ==
        "experiment.json:2: sweep.strategies: 'strategies' cannot be swept");
}

TEST_CASE("an experiment without GPUs is refused, also at a point of a sweep") {
  const Files files("\"sweep\": {\"topology.groups.gpu.count\": [2, 0]}");
  CHECK(files.error().find("lab.json:1: no machine has a GPU; an experiment needs at least one that has") !=
        std::string::npos);
}

TEST_CASE("timelines are of strategies that run") {
  CHECK(Files("\"strategies\": [\"ps\"], \"timelines\": [\"ring\"]")
            .error()
            .find("timelines: 'ring' is not among") != std::string::npos);
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
