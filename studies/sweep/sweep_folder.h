// A sweep's folder: its design, and what its runs have come to so far.
#pragma once

#include <string>
#include <vector>

#include "studies/run/results.h"
#include "studies/run/study.h"
#include "studies/sweep/result_store.h"

namespace weir {

/// What is to run, and under which keys; one of each run, in the order of Results::runs(). A value. Equal
/// keys are the same run.
struct Design {
  Study study;
  std::string program;  // that the keys are of
  std::vector<std::string> keys;

  /// The first run of each key, ascending.
  std::vector<std::size_t> distinct() const;
};

/// Reads every point, and fails with all that is wrong with any.
Result<Design> design_of(const ExperimentFile& file, const World& world);

/// As the folder has it.
std::string text(const Design& design);

/// A folder that is read, of a sweep that may be running. A value.
struct SweepFolder {
  Design design;
  SweepResults stored;

  /// Makes the folder, or finds it.
  static Result<void> make(const std::string& folder);
  /// Leaves the design there if it is not the one that is.
  static Result<void> write(const std::string& folder, const std::string& design);
  static Result<SweepFolder> read(const std::string& folder);
  /// What read() reads.
  static std::vector<std::string> files(const std::string& folder);

  /// Every run of the design with what it came to, if it has.
  Results results(const std::string& folder) const;
  /// None if the run has not ended.
  const StoredResult* stored_result(std::size_t run) const;
};

}  // namespace weir
