// The input of studies of an experiment: an experiment file, or a topology and a trace, and settings that
// override their values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/experiment/experiment_file.h"
#include "core/experiment/settings_file.h"

namespace weir {

/// A value. Errors name the command line's option, "--set".
struct Input {
  std::string file;                   // of an experiment, or its folder
  std::string trace;                  // if not empty, `file` is a topology, and the two form the experiment
  std::vector<std::string> settings;  // "path=value"
  std::string settings_file;          // empty: none

  /// The settings file's values for real runs. Fails if it cannot be read.
  Result<Streams> streams() const;

  Result<ExperimentFile> read() const;
  /// All files that read() used.
  std::vector<std::string> files(const ExperimentFile& read) const;
  /// The experiments of a suite, that is a folder without experiment.json: all experiment files below it,
  /// ordered by name, without files that runs of them wrote there. If the input is no suite, just its own
  /// file.
  Result<std::vector<std::string>> experiments() const;
  /// The experiment in the file, without its sweep.
  Result<Experiment> base() const;
};

/// A warning if the input's settings file was tuned for a strategy other than some of these, or for other
/// traces (name_of() in configuration.h): its settings apply to all of them.
std::optional<std::string> tuned_for_others(const Input& input, const std::vector<std::string>& strategies,
                                            const std::string& traces);

/// The topology in the file, with these settings, whose paths begin with "topology." as in experiments.
Result<Topology> topology_of(const std::string& file, const std::vector<std::string>& settings);

}  // namespace weir
