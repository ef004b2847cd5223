// What `weir tune` tells of a search: a line for each trial, what was found and when, and all of it as JSON.
#pragma once

#include <string>
#include <vector>

#include "apps/weir/text/progress.h"
#include "studies/output/table.h"
#include "studies/tune/tune.h"

namespace weir {

/// The table of trials, which grows. Those that are simulated have labels.
class TuneTable {
 public:
  TuneTable(const std::vector<Tunable>& tunables, bool simulated);

  std::string header() const { return table_.header(); }
  /// Trials come in their order, counted from 0.
  std::string line(std::size_t number, const TuneTrial& trial);

 private:
  static std::vector<Table::Column> columns(const std::vector<Tunable>& tunables, bool simulated);

  const std::vector<Tunable>& tunables_;
  bool simulated_;
  Table table_;
  std::optional<double> least_;
};

/// A search as it goes on: what is searched, the table, and on the error stream how far it is.
class TuneScreen {
 public:
  /// Prints what is searched, if there is to be a table. The subject outlives it.
  TuneScreen(const TuneSubject& subject, const World& world, bool table);

  /// It outlives them.
  TuneEvents events();
  /// After the search.
  void finish() const { progress_.clear(); }

 private:
  bool shows_table_;
  TuneTable table_;
  Progress progress_;
};

/// What was found, after how many trials, what it gains and how far it can be trusted. There is a best.
std::string summary(const Tuning& tuning);

/// The whole search.
std::string json(const Tuning& tuning);

}  // namespace weir
