#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <map>

#include "apps/weir/commands.h"
#include "apps/weir/options/input.h"
#include "apps/weir/text/output.h"
#include "core/cluster/topology_file.h"
#include "core/document/file_kind.h"
#include "core/experiment/settings_file.h"
#include "core/workload/trace_file.h"

namespace weir {
namespace {

struct CheckChoices {
  std::vector<std::string> files;
  std::string schema;
};

Result<std::string> check_experiment(const std::string& file) {
  const auto experiment = ExperimentFile::read(file);
  if (!experiment) return tl::unexpected(experiment.error());
  const auto all = experiment->each_point([](const Experiment&) {});
  if (!all) return tl::unexpected(all.error());
  return fmt::format("experiment, {} {}", experiment->points(),
                     experiment->points() == 1 ? "point" : "points");
}

// Says what kind of file it is, if it is valid.
Result<std::string> check_file(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) return check_experiment(file);
  const auto document = read_document(file);
  if (!document) return tl::unexpected(document.error());
  const std::optional<FileKind> kind = kind_of(*document);
  if (!kind) {
    return failure(
        complaint(*document, "",
                  "unknown kind of file; expected a topology with 'groups', a trace with 'layers', an "
                  "experiment with 'topology' and 'trace', or settings with 'settings'"));
  }
  switch (*kind) {
    case FileKind::kTopology:
      if (const auto topology = read_topology(*document); !topology) return tl::unexpected(topology.error());
      return std::string("topology");
    case FileKind::kTrace:
      if (const auto trace = read_trace(*document); !trace) return tl::unexpected(trace.error());
      return std::string("trace");
    case FileKind::kExperiment:
      return check_experiment(file);
    case FileKind::kSettings:
      if (const auto settings = read_settings(file); !settings) return tl::unexpected(settings.error());
      return std::string("settings");
  }
  return std::string();
}

ExitStatus check_files(const std::vector<std::string>& files) {
  ExitStatus status = kExitWell;
  for (const std::string& file : files) {
    const auto found = check_file(file);
    if (found) {
      print("{}: {}: ok\n", file, *found);
    } else {
      print("{}\n", found.error().text);
      status = kExitWrong;
    }
  }
  return status;
}

ExitStatus check(const CheckChoices& choices) {
  if (choices.schema.empty()) return check_files(choices.files);
  const std::map<std::string, std::string (*)()> schemas = {{"topology", topology_schema},
                                                            {"trace", trace_schema},
                                                            {"experiment", experiment_schema},
                                                            {"settings", settings_schema}};
  print("{}", schemas.at(choices.schema)());
  return kExitWell;
}

}  // namespace

void add_check(CLI::App& weir, ExitStatus& status) {
  CLI::App* command =
      weir.add_subcommand("check", "Says what is wrong with topologies, traces, experiments and settings");
  const auto choices = std::make_shared<CheckChoices>();
  CLI::Option_group* either = command->add_option_group("input");
  either->add_option("files", choices->files, "Files, or folders that hold experiment.json")
      ->type_name("FILE");
  either
      ->add_option("--schema", choices->schema,
                   "Prints the JSON Schema of files of this kind, for editors and other programs")
      ->check(CLI::IsMember({"topology", "trace", "experiment", "settings"}));
  either->require_option(1);
  command->footer(
      "Finds the kind of a file by its keys: a topology has 'groups', a trace 'layers', an experiment\n"
      "'topology', settings 'settings'. Checks an experiment at every point, and the files that it names.\n"
      "Ends with 2 if anything is wrong.\n\n"
      "Examples:\n"
      "  weir check topologies/*.json traces/*.json experiments/*/*.json\n"
      "  weir check --schema topology > schemas/topology.schema.json");
  command->callback([choices, &status] { status = check(*choices); });
}

}  // namespace weir
