// What `weir tune` tells of a search: a line for each trial, what was found and when, and all of it as JSON.
#pragma once

#include <string>
#include <vector>

#include "studies/output/table.h"
#include "studies/run/trial.h"
#include "studies/tune/tunables.h"

namespace weir {

constexpr double kNear = 0.02;  // so much longer than the best is as good, for people

/// What came of one point.
struct TuneTrial {
  tune::Point point;
  Outcome outcome;

  std::optional<double> seconds() const;  // of an iteration; none if it did not run
  bool simulated() const;                 // whether that time was, so that the row's label is its own
};

/// A search, ended or interrupted. A value.
struct Tuning {
  Tuned about;
  std::vector<Tunable> tunables;
  std::vector<TuneTrial> trials;
  std::optional<std::size_t> best;  // of the trials
  bool began_near = true;           // whether the first trial is the nearest to what the experiment has

  /// The first trial within kNear of the best; there is a best.
  std::size_t near() const;
  /// The best trial's; there is one.
  SettingsFile settings() const;
};

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

/// What was found, after how many trials, what it gains and how far it can be trusted. There is a best.
std::string summary(const Tuning& tuning);

/// The whole search.
std::string json(const Tuning& tuning, bool finished);

}  // namespace weir
