#include "core/experiment/experiment_file.h"

#include <nlohmann/json.hpp>

#include "core/base/units_text.h"
#include "tests/catch.h"
#include "tests/core/experiment/files.h"

namespace weir {
namespace {

using namespace weir::literals;

TEST_CASE("an experiment takes its defaults from the structs and its files from its own folder") {
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

TEST_CASE("a setting replaces a sweep of the same value by another path, but no sweep inside its object") {
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

TEST_CASE("settings create objects that a file leaves out, and wrong settings are reported by their paths") {
  const Files files("\"question\": \"Why?\"");
  const auto file = files.read({"topology.network.latency=5us", "model.compute_jitter=0.1"}).value();
  CHECK(file.experiment({}).value().topology.network.latency == 5_us);
  CHECK(files.error({"topology.networks.latency=5us"}) ==
        "--set topology.networks.latency: unknown key 'networks'; did you mean 'network'?");
  CHECK(
      files.error({R"(model={"foo": 1})"}) ==
      "--set model: foo: unknown key 'foo'; the keys here are 'collectives', 'message_overhead', "
      "'scatter_entries', 'entry_overhead', 'unaligned_efficiency', 'collective_overhead', 'compute_jitter'");
  CHECK(files.error({"topology.groups.cpu.count=-1"}) ==
        "--set topology.groups.cpu.count: -1 is too small; at least 0");
  CHECK(files.error({"credit=0"}) ==
        "--set credit: expected an integer from 1 to 1000000, or 'unlimited', not the integer 0");
  CHECK(parse_setting("policy=\xff").error().text == "expected text in UTF-8");
}

TEST_CASE("each mistake is reported once") {
  CHECK(
      Files("\"strategies\": [1], \"seeds\": [\"a\", \"b\"]").error() ==
      "experiment.json:2: seeds[0]: expected an integer, not the string 'a'\n"
      "experiment.json:2: seeds[1]: expected an integer, not the string 'b'\n"
      "experiment.json:2: strategies[0]: expected a strategy's name, or an object with 'name' and 'as', not "
      "the integer 1");
}

TEST_CASE("sizes and counts have a limit, and errors name it") {
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

TEST_CASE("all mistakes in experiment, topology, trace and points are reported together, each once") {
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

TEST_CASE("all mistakes of an experiment are reported at their lines") {
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
        "experiment.json:4: seeds[1]: 1 is listed twice");
}

TEST_CASE("a strategy may be in the list several times, under names and options of its own") {
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
  CHECK(own.options.policy == Policy::kFifo);  // from the experiment
  CHECK(write_experiment(experiment)["strategies"][1]["as"] == "P3");
  CHECK(contender(experiment, "P4").error().text.ends_with(", mxnet-ps, P3"));
}

TEST_CASE("mistakes in a strategy's own options are reported at their lines") {
  CHECK(Files(R"("strategies": [{"name": "sp", "as": "a"},
    {"name": "ps", "as": "ring"}, {"name": "ps"},
    {"name": "ddp", "as": "b", "policy": "priority", "credit": 4, "bucket_size": "1MB"},
    {"name": "ps", "as": "c", "partition_size": "1B", "credits": 1}, {"name": "ps", "as": "d", "credit": 0}])")
            .error() ==
        "experiment.json:2: strategies[0].name: there is no strategy 'sp'; did you mean 'ps'?\n"
        "experiment.json:3: strategies[1].as: the name 'ring' is already taken; choose another\n"
        "experiment.json:3: strategies[2]: 'as' is missing: its name in tables and files\n"
        "experiment.json:4: strategies[3].policy: ddp always has \"fifo\"; leave it out\n"
        "experiment.json:4: strategies[3].credit: ddp always has \"unlimited\"; leave it out\n"
        "experiment.json:5: strategies[4]: unknown key 'credits'; did you mean 'credit'?\n"
        "experiment.json:5: strategies[5].credit: expected an integer from 1 to 1000000, or 'unlimited', not "
        "the "
        "integer 0");
}

TEST_CASE("an exchange that would take months is refused, and its bottleneck is named") {
  const Files files("\"question\": \"\"");
  CHECK(files.error({"trace.layers.0.tensors.0.elements=1000000000000",
                     "topology.groups.gpu.nics.0.rate=\"1Mbps\""}) ==
        "lab.json:1: over the slowest link or sum (1Mbps), the gradients of all machines (4 TB each) may "
        "take 1.92e+08 s; at most 10000000s: raise its rate, or take a smaller model");
}

TEST_CASE("a file of another kind is reported as such") {
  const Files files("\"question\": \"\"");
  const std::string folder = files.folder().path();
  CHECK(ExperimentFile::read(folder + "/net.json").error().text ==
        folder + "/net.json:1: this is a trace; expected an experiment");
  files.folder().write("experiment.json", R"({"topology": "net.json", "trace": "lab.json"})");
  CHECK(files.error() ==
        "net.json:1: this is a trace; expected a topology\n"
        "lab.json:1: this is a topology; expected a trace");
}

TEST_CASE("timelines are drawn only of compared strategies") {
  CHECK(Files("\"strategies\": [\"ps\"], \"timelines\": [\"ring\"]")
            .error()
            .find("timelines: 'ring' is not among") != std::string::npos);
}

TEST_CASE("a missing file is reported at the place of its name") {
  const Folder folder;
  const std::string file = folder.write("e.json", "{\"trace\": {},\n\"topology\": \"none/lab.json\"}");
  CHECK(ExperimentFile::read(file).error().text ==
        file + ":2: topology: there is no file " + folder.path() + "/none/lab.json");
  CHECK(ExperimentFile::read(folder.path() + "/f.json").error().text ==
        folder.path() + "/f.json: there is no such file to read");
}

TEST_CASE("the text of one contender's experiment can be read back") {
  const Files files(R"("strategies": ["ring", {"name": "ps", "as": "mine", "credit": 2}], "seeds": [3],
    "partition_size": "1MB", "timelines": ["mine"])");
  const Experiment experiment = files.read()->experiment({}).value();
  for (const std::string name : {"ring", "mine"}) {
    const auto parsed = ExperimentFile::parse(whole_text(experiment, name), "shipped");
    REQUIRE(parsed);
    const Experiment shipped = parsed->experiment({}).value();
    CHECK(shipped.strategies == std::vector<std::string>{name});
    CHECK(contender(shipped, name)->options.credit == contender(experiment, name)->options.credit);
    CHECK(whole_text(shipped, name) == whole_text(experiment, name));
  }
  CHECK(ExperimentFile::parse("{", "shipped").error().text.starts_with("shipped:1: "));
}

TEST_CASE("an experiment may hold its topology and trace itself") {
  const Folder folder;
  const std::string file = folder.write("e.json", fmt::format("{{\"topology\": {},\n\"trace\": {}}}",
                                                              kTopology, R"({"name": "n", "layers": []})"));
  const auto experiment = ExperimentFile::read(file).value().experiment({});
  REQUIRE_FALSE(experiment);
  CHECK(experiment.error().text == file + ":4: trace.layers: there is no layer; give at least one");
}

TEST_CASE("every shipped experiment is valid at every point") {
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

TEST_CASE("the committed schema of experiments equals the one that the program writes") {
  // build/.../weir check --schema experiment > schemas/experiment.schema.json
  CHECK(read_text(std::string(WEIR_SOURCE_DIR) + "/schemas/experiment.schema.json").value() ==
        experiment_schema());
}

}  // namespace
}  // namespace weir
