// Real runs that a calibration is fitted on, from files: results.json and results.csv of `weir run`, lines of
// JSON that scripts of this repository keep, and what `weir bench allreduce|pushpull --json` print.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/experiment/experiment.h"

namespace weir {

/// One run: what was run, and how long an iteration took.
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

/// Where files that hold rows alone, lines of JSON or CSV, have their experiment from.
struct RowsOf {
  std::string experiment;  // a file or a folder; empty: what the CSV says
};

/// Of the document that `weir run` writes as results.json.
bool is_results(const Value& document);
Result<RealRuns> read_results(const Value& document, const std::string& source);

/// Of lines of JSON: the first is about the file, each other one is a row of results.csv with the values of
/// its sweep by path; those without `iteration_ns` are of others, and left out.
Result<RealRuns> read_lines(const std::string& text, const std::string& source, const RowsOf& of);

/// Of results.csv.
Result<RealRuns> read_csv(const std::string& text, const std::string& source, const RowsOf& of);

/// Why runs of the world of this name measure no links of a cluster; empty if they do.
std::string_view no_measurement(std::string_view world);

}  // namespace weir
