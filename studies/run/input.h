// What studies of an experiment begin with: its file, or a topology and a trace, and settings that replace
// what these say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/experiment/experiment_file.h"
#include "core/experiment/settings_file.h"

namespace weir {

/// A value. Errors name the command line's option, "--set".
struct Input {
  std::string file;   // of an experiment, or its folder
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

/// Says what the input's settings file was tuned for, if that is another strategy than some of these or other
/// traces (name_of() in configuration.h): its settings apply to all of them.
std::optional<std::string> tuned_for_others(const Input& input, const std::vector<std::string>& strategies,
                                            const std::string& traces);

/// The topology in the file, with settings put into it whose paths are those in experiments, "topology. ...".
Result<Topology> topology_of(const std::string& file, const std::vector<std::string>& settings);

}  // namespace weir
