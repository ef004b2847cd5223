// Reads the real runs that a calibration is fitted to: results.json and results.csv of `weir run`, files of
// JSON lines as this repository's scripts keep them, and the output of `weir bench allreduce|pushpull
// --json`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/experiment/experiment.h"

namespace weir {

/// One run: its experiment and contender, and how long an iteration took.
struct RealRun {
  std::string source;                            // the file
  std::shared_ptr<const Experiment> experiment;  // its topology is that of the run
  std::string contender;
  Duration iteration;
};

struct RealRuns {
  std::vector<RealRun> runs;
  std::vector<std::string> remarks;  // what was left out, and why
};

/// Where files of rows alone (JSON lines or CSV) get their experiment from.
struct RowsOf {
  std::string experiment;  // a file or a folder; empty: the one that the CSV names
};

/// Whether the document is a results.json of `weir run`, and its runs.
bool is_results(const Value& document);
Result<RealRuns> read_results(const Value& document, const std::string& source);

/// Runs from JSON lines. The first line describes the file. Each other line is a row of results.csv, with the
/// values of its sweep by path. Lines without `iteration_ns` are not Weir's runs, and are skipped.
Result<RealRuns> read_lines(const std::string& text, const std::string& source, const RowsOf& of);

/// Runs from results.csv.
Result<RealRuns> read_csv(const std::string& text, const std::string& source, const RowsOf& of);

/// Why runs of the world with this name measure no links of a cluster; empty if they do.
std::string_view no_measurement(std::string_view world);

}  // namespace weir
