#include "core/experiment/other_job.h"

#include <nlohmann/json.hpp>

#include "core/experiment/run_inputs.h"
#include "tests/catch.h"
#include "tests/core/experiment/files.h"

namespace weir {
namespace {

using namespace weir::literals;

// An experiment with a job on line 4.
std::string beside(const std::string& job, const std::string& own = R"(["gpu[0]"])") {
  return "\"machines\": " + own + ",\n\"other_jobs\": [\n" + job + "]";
}

TEST_CASE("other jobs have traces, machines and options of their own") {
  const Files files("\"partition_size\": \"8MB\", " +
                    beside(R"({"name": "neighbour", "trace": "net.json", "strategy": "ps", "credit": 2,
                               "machines": ["gpu[1]", "cpu[*]"], "start": "3ms"})"));
  const Experiment experiment = files.read().value().experiment({}).value();
  CHECK(cluster_of(experiment).machines().size() == 1);
  REQUIRE(experiment.other_jobs.size() == 1);
  const OtherJob& job = experiment.other_jobs.front();
  CHECK(job.name == "neighbour");
  CHECK(job.trace.name == "net");
  CHECK(job.strategy == "ps");
  CHECK(job.options.credit == 2);
  CHECK(job.options.partition_size == Options{}.partition_size);
  CHECK(job.machines == std::vector<std::string>{"gpu[1]", "cpu[*]"});
  CHECK(job.start == 3_ms);
  CHECK_FALSE(experiment.alone());
  CHECK(Files(R"("prove": true)").read().value().experiment({}).value().alone());

  // What is written can be read again, without files beside it.
  const std::string text = whole_text(experiment, "ring");
  const auto read = ExperimentFile::parse(text, "text").value().experiment({}).value();
  CHECK(whole_text(read, "ring") == text);
  CHECK(read.other_jobs.front().trace.layers.size() == 1);
}

TEST_CASE("other jobs can be set and swept, and results are stored under all their fields") {
  const Files files(R"("sweep": {"other_jobs.neighbour.strategy": ["ps", "ring"]}, )" +
                    beside(R"({"name": "neighbour", "trace": "net.json", "strategy": "ps",
                               "machines": ["gpu[1]", "cpu[*]"]})"));
  const auto file = files.read({"other_jobs.0.start=1s"}).value();
  REQUIRE(file.points() == 2);
  const Experiment first = file.experiment(file.point(0)).value();
  Experiment second = file.experiment(file.point(1)).value();
  CHECK(second.other_jobs.front().strategy == "ring");
  CHECK(second.other_jobs.front().start == 1_s);
  CHECK(RunInputs(first).text("ring", 1) != RunInputs(second).text("ring", 1));
  const std::string before = RunInputs(second).text("ring", 1);
  second.other_jobs.front().trace.layers.front().forward = 7_ms;
  CHECK(RunInputs(second).text("ring", 1) != before);
}

TEST_CASE("mistakes in other jobs are reported at their lines") {
  const auto error = [](const std::string& job, const std::string& own = R"(["gpu[0]"])") {
    return Files(beside(job, own)).error();
  };
  const std::string machines = R"("machines": ["gpu[1]"])";
  CHECK(error(R"({"name": "n", "trace": "net.json", "strategy": "ring", )" + machines + "}") == "no error");
  CHECK(error(R"({"name": "n", "trace": "net.json", "strategy": "rign", )" + machines + "}") ==
        "experiment.json:4: other_jobs[0].strategy: there is no strategy 'rign'; did you mean 'ring'?");
  CHECK(error(R"({"name": "n", "trace": "nut.json", "strategy": "ring", )" + machines + "}") ==
        "experiment.json:4: other_jobs[0].trace: there is no file nut.json");
  CHECK(error(R"({"name": "n", "trace": {"name": "x", "layers": []}, "strategy": "ring", )" + machines + "}")
            .starts_with("experiment.json:4: other_jobs[0].trace.layers"));
  CHECK(error(R"({"name": "n", "strategy": "ring", )" + machines + "}").find("other_jobs[0]") !=
        std::string::npos);
  CHECK(error(R"({"name": "n", "trace": "net.json", "strategy": "ring", "credit": 0, )" + machines + "}")
            .starts_with("experiment.json:4: other_jobs[0].credit: expected an integer"));
  CHECK(error(R"({"name": "n", "trace": "net.json", "strategy": "ddp", "policy": "priority", )" + machines +
              "}")
            .starts_with("experiment.json:4: other_jobs[0].policy: ddp always has \"fifo\""));
  const std::string twice = R"({"name": "n", "trace": "net.json", "strategy": "ring", )" + machines + "}";
  CHECK(error(twice + ",\n" + twice)
            .find("experiment.json:5: other_jobs[1].name: the name 'n' is already taken") !=
        std::string::npos);
  CHECK(error(R"({"name": "n", "trace": "net.json", "strategy": "ring"})")
            .starts_with("experiment.json:4: other_jobs[0]: 'machines' is missing"));
  CHECK(error(R"({"name": "n", "trace": "net.json", "strategy": "ring", "machines": ["*"]})") ==
        "experiment.json:4: other_jobs[0].machines: gpu[0] has GPUs and is already a machine of the "
        "experiment's "
        "own job ('machines'); jobs share only the network and machines without GPUs");
  CHECK(error(R"({"name": "n", "trace": "net.json", "strategy": "ring", "machines": ["tpu"]})")
            .find("none of them") == std::string::npos);
  CHECK(error(R"({"name": "n", "trace": "net.json", "strategy": "ring", "machines": ["cpu[0]"]})") ==
        "experiment.json:4: other_jobs[0].machines: none of these machines has a GPU; a job needs at least "
        "one with a GPU");
  CHECK(
      error(R"({"name": "n", "trace": "net.json", "strategy": "ring", "machines": ["gpu[1]", "tpu[*]"]})") ==
      "experiment.json:4: other_jobs[0].machines[1]: no machine is named 'tpu[*]'; they are named gpu[0] to "
      "cpu[0]");
  CHECK(error("3").starts_with("experiment.json:4: other_jobs[0]: expected an object"));
  CHECK(Files(R"("machines": ["gpu[7]"])")
            .error()
            .starts_with("experiment.json:2: machines[0]: no machine is named 'gpu[7]'"));
  CHECK(
      Files(R"("machines": ["gpu[0]"], "conditions": {"stops": [{"machines": "gpu[*]", "at": "1ms"}]})")
          .error() ==
      "experiment.json:2: conditions.stops[0].machines: gpu[1] is not one of the experiment's 'machines', so "
      "its stop must end; give it a 'for'");
}

}  // namespace
}  // namespace weir
