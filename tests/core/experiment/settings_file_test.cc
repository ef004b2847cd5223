#include "core/experiment/settings_file.h"

#include "tests/catch.h"
#include "tests/core/experiment/files.h"

namespace weir {
namespace {

// The error of a settings file with this text, without the folder's name.
std::string error(const std::string& text) {
  const Folder folder;
  folder.write("best.json", text);
  const auto file = read_settings(folder.path() + "/best.json");
  return file ? "no error" : file.error().text.substr(folder.path().size() + 1);
}

TEST_CASE("settings are options, and replace those of experiments") {
  const Folder folder;
  folder.write("best.json",
               R"({"settings": {"partition_size": "1.5MB", "credit": 8}, "run": {"channels": 2}})");
  const auto file = read_settings(folder.path() + "/best.json");
  REQUIRE(file);
  CHECK(file->run.channels == 2);
  CHECK(!file->run.workers);
  const Files files(R"("partition_size": "4MB", "sweep": {"credit": [1, 2]})");
  const auto experiment = ExperimentFile::read(files.folder().path(), settings_of(*file));
  REQUIRE(experiment);
  CHECK(experiment->points() == 1);
  CHECK(experiment->experiment({})->options.partition_size == Bytes(1'500'000));
  CHECK(experiment->experiment({})->options.credit == 8);
}

TEST_CASE("mistakes in settings are reported with line and path") {
  CHECK(error("{\n\"settings\": {\"partition_sise\": \"1MB\"}}") ==
        "best.json:2: settings: unknown key 'partition_sise'; did you mean 'partition_size'?");
  CHECK_THAT(error("{\n\"settings\": {\n\"partition_size\": 4}}"),
             has_text("best.json:3: settings.partition_size"));
  CHECK_THAT(error("{\"settings\": {}, \"run\": {\"channels\": 0}}"), has_text("best.json:1: run.channels"));
  CHECK_THAT(error("{\"settings\": {}, \"more\": 1}"), has_text("best.json:1: unknown key 'more'"));
  CHECK_THAT(error("{\"groups\": []}"), has_text("this is a topology; expected a settings file"));
  CHECK_THAT(error("{\"run\": {}}"), has_text("settings"));
}

TEST_CASE("values that experiments refuse are reported at their line in the settings") {
  CHECK_THAT(error("{\"settings\":\n{\"credit\": 0}}"),
             has_text("best.json:2: settings.credit: expected an integer from 1"));
  CHECK_THAT(error("{\"settings\":\n{\"credit\": \"many\"}}"),
             has_text("or 'unlimited', not the string 'many'"));
  CHECK_THAT(error("{\"settings\":\n{\"partition_size\": \"0B\"}}"),
             has_text("best.json:2: settings.partition_size: 0B is too small"));
}

TEST_CASE("settings are written as they were read") {
  SettingsFile file{Value::object(), {}, {}};
  file.settings.append("credit", Value(std::int64_t{3}));
  file.run.workers = 2;
  file.tuned = Tuned{"an experiment", {"a=b"}, "ps", "SimGrid", "bayes", 1, 15, Duration(1'500'000), "0.1.0"};
  file.tuned->trace = "net";
  const Folder folder;
  folder.write("best.json", text(file));
  const auto again = read_settings(folder.path() + "/best.json");
  REQUIRE(again);
  CHECK(text(*again) == text(file));
  CHECK(again->tuned->iteration == Duration(1'500'000));
  CHECK(again->tuned->trace == "net");
}

}  // namespace
}  // namespace weir
