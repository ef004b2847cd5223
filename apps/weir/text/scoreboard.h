// What the terminal shows of a running experiment: a table that grows point by point in the order of the
// file, and on the error stream how far the runs have come.
#pragma once

#include "apps/weir/text/progress.h"
#include "studies/output/table.h"
#include "studies/run/results.h"

namespace weir {

class Scoreboard {
 public:
  /// Both outlive it.
  Scoreboard(const ExperimentFile& file, const Results& results);

  /// Shows the points that are complete and have only such before them, and the progress.
  void update();
  /// Shows the points that are left as far as their runs have ended, and takes the progress away.
  void finish();

 private:
  void show(std::size_t point);
  Table::Cells cells(const Run& run) const;

  const ExperimentFile& file_;
  const Results& results_;
  bool seeds_;  // there are several, so that they need a column
  Progress progress_;
  Table table_;
  bool titled_ = false;
  std::size_t next_ = 0;  // the first point that is not shown
};

}  // namespace weir
