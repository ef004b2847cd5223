#include <fmt/format.h>

#include "core/experiment/experiment_file.h"
#include "tests/catch.h"
#include "tests/core/experiment/files.h"

namespace weir {
namespace {

using namespace weir::literals;

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
        "experiment.json:2: sweep." + both + ": these paths are swept together: set all of them or none");
  const Files twice(R"("sweep": {"credit, policy": [1], "policy": ["fifo"]})");
  CHECK(twice.error() == "experiment.json:2: sweep.policy: this is the same as 'policy'");
  const Files whole(R"("sweep": {"credit, topology": [1]})");
  CHECK(whole.error() ==
        "experiment.json:2: sweep.credit, topology: 'topology' must be swept alone, without other paths");
}

TEST_CASE("whole topologies and traces can be swept, and shown by their names") {
  const Files files(R"("sweep": {"topology.groups.cpu.count": [5], "topology": ["lab.json", "small.json"]})");
  files.folder().write("small.json", R"({"name": "small", "groups": [{"name": "cpu", "count": 1},
    {"name": "gpu", "count": 0, "gpus": [{"at": "numa0"}]}]})");
  const auto error = files.error();
  CHECK(error == "small.json:1: groups[0]: each of several machines needs a NIC; add one to 'nics'");
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
  CHECK(parse_setting("credit").error().text ==
        "'credit' sets nothing; expected path=value, such as partition_size=4MB");
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
  // A path that only some of them have is reported for the others.
  CHECK(files.error({"topology.groups.more.count=1"}) ==
        "--set topology.groups.more.count: topology.groups has no 'more'; there are 'gpu', 'cpu'");
  CHECK(files.error({"topology.groups.more.count=1", "topology=" + files.folder().path() + "/large.json"}) ==
        "no error");
}

TEST_CASE("a wrong swept value is reported at the line of the sweep") {
  CHECK(Files("\"sweep\": {\n\"topology.groups.cpu.count\": [0,\n-1]}").error() ==
        "experiment.json:4: sweep.topology.groups.cpu.count[1]: -1 is too small; at least 0");
  CHECK(Files("\"sweep\": {\n\"partition_sizes\": [\"1MB\"]}").error() ==
        "experiment.json:3: sweep.partition_sizes[0]: unknown key 'partition_sizes'; did you mean "
        "'partition_size'?");
  CHECK(Files("\"sweep\": {\n\"topology.groups.gpus.count\": [1]}").error() ==
        "experiment.json:3: sweep.topology.groups.gpus.count[0]: topology.groups has no 'gpus'; there are "
        "'gpu', 'cpu'");
}

TEST_CASE("a wrong value within a swept or set object is reported by its path there") {
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

TEST_CASE("a sweep has no more points than can be checked before the first run") {
  std::string values = "1";
  for (int i = 2; i <= 101; ++i) values += fmt::format(", {}", i);
  CHECK(Files(fmt::format("\"sweep\": {{\"credit\": [{0}], \"iterations\": [{0}]}}", values)).error() ==
        "experiment.json:2: sweep: 10201 points are too many; at most 10000: leave values out, or split it "
        "into "
        "several "
        "experiments");
  for (int i = 102; i <= 10'001; ++i) values += fmt::format(", {}", i);
  CHECK(Files(fmt::format("\"sweep\": {{\"credit\": [{}]}}", values)).error() ==
        "experiment.json:2: sweep.credit: 10001 points are too many; at most 10000: leave values out, or "
        "split it "
        "into "
        "several experiments");
  CHECK(Files(fmt::format("\"seeds\": [{}], \"sweep\": {{\"policy\": [\"fifo\", \"priority\"]}}", values))
            .error() ==
        fmt::format("experiment.json:1: {} runs are too many; at most 100000: leave out seeds, strategies or "
                    "values of the sweep",
                    2 * 10'001 * strategies().size()));
}

TEST_CASE("a swept value must fit on one line") {
  CHECK(Files(R"("sweep": {"topology.source": ["a\nb"]})").error() ==
        "experiment.json:2: sweep.topology.source[0]: expected a value without control characters");
}

TEST_CASE("a sweep is an object of lists of different values for paths that can vary") {
  CHECK(Files("\"sweep\": [1]").error() ==
        "experiment.json:2: sweep: expected an object of lists, not an array");
  CHECK(Files("\"sweep\": {\"credit\": 4}").error() ==
        "experiment.json:2: sweep.credit: expected a list of values, not the integer 4");
  CHECK(Files("\"sweep\": {\"credit\": []}").error() ==
        "experiment.json:2: sweep.credit: expected a list of values, not an empty list");
  CHECK(Files("\"sweep\": {\"credit\": [4,\n4]}").error() ==
        "experiment.json:3: sweep.credit[1]: 4 is listed twice");
  CHECK(Files("\"sweep\": {\"strategies\": [[\"ps\"]]}").error() ==
        "experiment.json:2: sweep.strategies: 'strategies' cannot be swept");
}

TEST_CASE("an experiment without GPUs is refused, also at a point of a sweep") {
  const Files files("\"sweep\": {\"topology.groups.gpu.count\": [2, 0]}");
  CHECK(files.error().find(
            "lab.json:1: no machine has a GPU; an experiment needs at least one machine with a GPU") !=
        std::string::npos);
}

}  // namespace
}  // namespace weir
