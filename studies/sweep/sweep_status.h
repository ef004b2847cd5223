// How far a sweep has come, and its results as one file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "studies/output/study_error.h"
#include "studies/sweep/active_workers.h"
#include "studies/sweep/result_store.h"

namespace weir {

/// A value.
struct SweepStatus {
  std::string file;  // of the experiment
  std::size_t points = 0;
  std::map<StoredResult::Status, std::size_t> ended;  // runs, by how they did
  std::size_t left = 0;                               // runs that have not ended
  std::size_t strangers = 0;        // results in the folder that are of other designs or programs
  std::vector<Worker> workers;      // processes that compute it now
  std::optional<Duration> to_go;    // by the mean of those that ended, if somebody works on what is left
  std::optional<Error> unreadable;  // the files that could not be read, if any could not

  /// All runs that have ended.
  std::size_t count() const;
};

/// Of the sweep in the folder, which may be running.
Result<SweepStatus> sweep_status(const std::string& folder);

/// Writes what has come of the sweep in the folder: a table if the file's name ends in .csv, all that weir
/// run writes if in .json, one SQLite database if in .db. The input is wrong if it ends in something else, or
/// files of the folder cannot be read.
Studied<void> export_sweep(const std::string& folder, const std::string& file);

}  // namespace weir
