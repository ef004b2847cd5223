// The files with an experiment's results, kept up to date while runs end, so that no result is lost.
#pragma once

#include <chrono>
#include <string>

#include "backends/real/process/descriptor.h"
#include "studies/run/results.h"

namespace weir {

class ResultFiles {
 public:
  /// The results outlive it. Files of an earlier experiment stay in the folder until there is something to
  /// replace them.
  ResultFiles(const Results& results, std::string folder);
  ResultFiles(const ResultFiles&) = delete;
  ResultFiles& operator=(const ResultFiles&) = delete;

  /// Makes the folder. Fails if it cannot be made or written, or another run writes there.
  Result<void> prepare();
  /// Call it after a run of the point has ended. Writes the files if the point is complete or the last
  /// writing was a second ago, but spends at most a tenth of the time on writing.
  void update(std::size_t point);
  /// Writes what is not yet written, and removes files of runs that did not end.
  Result<void> finish();
  /// Writes published.csv: results compared with published ones.
  Result<void> write_published(const std::string& csv) const;

 private:
  Result<void> write();
  void remove_old() const;
  void remove(const std::string& name) const;

  using Clock = std::chrono::steady_clock;

  const Results& results_;
  std::string folder_;
  real::Descriptor lock_;        // on the folder, while this process or one of its children lives
  bool begun_ = false;           // whether anything has been written
  std::size_t written_ = 0;      // of the ended runs
  Clock::time_point last_;       // end of the last writing
  Clock::duration last_took_{};  // and its duration
};

}  // namespace weir
