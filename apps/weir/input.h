// What run, plan and bound have in common: an experiment file, and settings that replace what it says.
#pragma once

#include <string>
#include <vector>

#include "apps/weir/commands.h"
#include "core/experiment/experiment_file.h"

namespace weir {

struct Input {
  std::string file;
  std::vector<std::string> settings;  // "path=value"

  Result<ExperimentFile> read() const;
  /// The experiment as it stands in the file: its sweep is left aside.
  Result<Experiment> base() const;
};

/// Adds both to the command's line. The input outlives the command.
void add_input(CLI::App& command, Input& input);

/// The status, or the error told on the error stream and 1.
ExitStatus exit_status(const char* command, const Result<ExitStatus>& result);

}  // namespace weir
