// The terminal output of a running experiment. A table grows point by point in the order of the file; the
// progress of the runs goes to the error stream.
#pragma once

#include "apps/weir/text/progress.h"
#include "studies/output/table.h"
#include "studies/run/results.h"

namespace weir {

class Scoreboard {
 public:
  /// The file and the results outlive the scoreboard.
  Scoreboard(const ExperimentFile& file, const Results& results);

  /// Shows the progress, and each complete point, as long as all points before it are complete.
  void update();
  /// Shows the remaining points with the runs that have ended, and removes the progress line.
  void finish();

 private:
  void show(std::size_t point);
  Table::Cells cells(const Run& run) const;

  const ExperimentFile& file_;
  const Results& results_;
  bool seeds_;  // whether there are several seeds, which need a column
  Progress progress_;
  Table table_;
  bool titled_ = false;
  std::size_t next_ = 0;  // the first point that is not shown yet
};

}  // namespace weir
