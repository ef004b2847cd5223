// What `weir tune` prints about a search: one line for each trial, and a summary. Or everything as JSON.
#pragma once

#include <string>
#include <vector>

#include "apps/weir/text/progress.h"
#include "studies/output/table.h"
#include "studies/tune/tune.h"

namespace weir {

/// The table of trials, which grows. Simulated trials have labels.
class TuneTable {
 public:
  TuneTable(const std::vector<Tunable>& tunables, bool simulated);

  std::string header() const { return table_.header(); }
  /// One trial as a row. Call it in the order of the trials, counted from 0.
  std::string line(std::size_t number, const TuneTrial& trial);

 private:
  static std::vector<Table::Column> columns(const std::vector<Tunable>& tunables, bool simulated);

  const std::vector<Tunable>& tunables_;
  bool simulated_;
  Table table_;
  std::optional<double> least_;
};

/// The output of a running search: the subject and the table. The progress goes to the error stream.
class TuneScreen {
 public:
  /// Prints the subject if there is to be a table. The subject outlives the screen.
  TuneScreen(const TuneSubject& subject, const World& world, bool table);

  /// The screen outlives the events.
  TuneEvents events();
  /// Call it after the search.
  void finish() const { progress_.clear(); }

 private:
  bool shows_table_;
  TuneTable table_;
  Progress progress_;
};

/// The best settings, the trial that found them, the gain, and how far to trust it. Requires that a best
/// exists.
std::string summary(const Tuning& tuning);

/// The whole search as JSON.
std::string json(const Tuning& tuning);

}  // namespace weir
