// A sweep's folder: its design, and the results of its runs so far.
#pragma once

#include <string>
#include <vector>

#include "studies/run/results.h"
#include "studies/run/study.h"
#include "studies/sweep/result_store.h"

namespace weir {

/// What to run, with a key for each run, in the order of Results::runs(). A value. Equal keys mean the same
/// run.
struct Design {
  Study study;
  std::string program;  // the program that the keys belong to
  std::vector<std::string> keys;

  /// The first run of each key, ascending.
  std::vector<std::size_t> distinct() const;
};

/// Reads every point. Fails with all errors of all points.
Result<Design> design_of(const ExperimentFile& file, const World& world);

/// As in the folder.
std::string text(const Design& design);

/// The content of a folder, whose sweep may still be running. A value.
struct SweepFolder {
  Design design;
  SweepResults stored;

  /// Makes the folder, if it does not exist.
  static Result<void> make(const std::string& folder);
  /// Writes the design into the folder, unless it is already there.
  static Result<void> write(const std::string& folder, const std::string& design);
  static Result<SweepFolder> read(const std::string& folder);
  /// The files that read() reads.
  static std::vector<std::string> files(const std::string& folder);

  /// Every run of the design, with its result if there is one.
  Results results(const std::string& folder) const;
  /// Null if the run has not ended.
  const StoredResult* stored_result(std::size_t run) const;
};

}  // namespace weir
