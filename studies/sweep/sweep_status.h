// A sweep's progress, and its results as one file.
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
  std::map<StoredResult::Status, std::size_t> ended;  // number of ended runs by status
  std::size_t left = 0;                               // runs that have not ended
  std::size_t strangers = 0;      // results in the folder that belong to other designs or programs
  std::vector<Worker> workers;    // processes that compute it now
  std::optional<Duration> to_go;  // estimated from the mean of ended runs, if somebody is working on the rest
  std::optional<Error> unreadable;  // the files that could not be read, if any

  /// The number of ended runs.
  std::size_t count() const;
};

/// The status of the sweep in the folder, which may be running.
Result<SweepStatus> sweep_status(const std::string& folder);

/// Writes the results so far of the sweep in the folder. The file's ending decides: .csv for a table, .json
/// for all that weir run writes, .db for one SQLite database. The input is wrong if the ending is another, or
/// if files of the folder cannot be read.
Studied<void> export_sweep(const std::string& folder, const std::string& file);

}  // namespace weir
