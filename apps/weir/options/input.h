// What commands have in common: an experiment file, and settings that replace what it says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/weir/text/exit_status.h"
#include "core/experiment/experiment_file.h"
#include "core/experiment/settings_file.h"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace weir {

struct Input {
  std::string file;
  std::string trace;  // if not empty, the file is a topology, and these two are the experiment
  std::vector<std::string> settings;  // "path=value"
  std::string settings_file;          // empty: none

  /// What the settings file says of real runs; fails if it cannot be read.
  Result<Streams> streams() const;

  Result<ExperimentFile> read() const;
  /// All files that it is made of, as read() read it.
  std::vector<std::string> files(const ExperimentFile& read) const;
  /// The files of a suite, a folder without experiment.json: all experiments below it, ordered by name, and
  /// not what a run of them has written there. One if it is none.
  Result<std::vector<std::string>> experiments() const;
  /// The experiment as it stands in the file: its sweep is left aside.
  Result<Experiment> base() const;
};

/// Tells on the error stream what the input's settings were tuned for, if that is another strategy than some
/// of these or other traces (name_of() in configuration.h): they go for all of them.
void tell_tuned_for_others(const char* command, const Input& input,
                           const std::vector<std::string>& strategies, const std::string& traces);

/// The topology in the file, with settings put into it whose paths are those in experiments, "topology. ...".
Result<Topology> topology_of(const std::string& file, const std::vector<std::string>& settings);

/// Adds the experiment, --settings and --set to the command's line. The input outlives the command.
void add_input(CLI::App& command, Input& input);
/// Adds --settings and --set.
void add_settings(CLI::App& command, Input& input);
/// Adds --set, for topology_of.
void add_topology_settings(CLI::App& command, std::vector<std::string>& settings);

/// Adds --strategy, which takes the name of a strategy or of the experiment's variant of one. The name
/// outlives the command.
void add_strategy(CLI::App& command, std::string& name, const std::string& about);

/// A check that text is a whole number of no less than this: CLI11 takes one below 0 for a large one.
CLI::Validator whole_number_from(std::uint64_t least);

/// A check that a number is one, and within these: CLI::Range takes what is none.
CLI::Validator number_within(double least, double most);

/// The status, or the error told on the error stream and kExitFailed.
ExitStatus exit_status(const char* command, const Result<ExitStatus>& result);

/// Tells the error, which is one of the input: each of its lines after the command's name.
ExitStatus wrong(const char* command, const Error& error);

}  // namespace weir
