// The files of an experiment's results in their folder, kept up to date while runs end, so that what has been
// computed is never lost.
#pragma once

#include <chrono>
#include <string>

#include "backends/real/process/descriptor.h"
#include "studies/run/results.h"

namespace weir {

class ResultFiles {
 public:
  /// The results outlive it. What an earlier experiment of ours left in the folder stays until there is
  /// something to put in its place.
  ResultFiles(const Results& results, std::string folder);
  ResultFiles(const ResultFiles&) = delete;
  ResultFiles& operator=(const ResultFiles&) = delete;

  /// Makes the folder; fails if it cannot be made or written, or another run writes there.
  Result<void> prepare();
  /// After a run of the point has ended: writes the files if the point is complete, or the last time was a
  /// second ago; but never so often that writing takes more than a tenth of the time.
  void update(std::size_t point);
  /// Writes what is left to be written, and removes what runs left that did not end.
  Result<void> finish();
  /// published.csv: results beside what is published.
  Result<void> write_published(const std::string& csv) const;

 private:
  Result<void> write();
  void remove_old() const;
  void remove(const std::string& name) const;

  using Clock = std::chrono::steady_clock;

  const Results& results_;
  std::string folder_;
  real::Descriptor lock_;        // on the folder, as long as this process or one of its children lives
  bool begun_ = false;           // something has been written
  std::size_t written_ = 0;      // of the runs that have ended
  Clock::time_point last_;       // end of the last writing
  Clock::duration last_took_{};  // and its duration
};

}  // namespace weir
