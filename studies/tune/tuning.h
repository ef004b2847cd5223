// What a search for the best settings has come to: its trials, and the best of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/experiment/settings_file.h"
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
  std::optional<int> signal;        // that asked to end: SIGINT, SIGTERM or SIGHUP
  bool began_near = true;           // whether the first trial is the nearest to what the experiment has

  /// The first trial within kNear of the best; there is a best.
  std::size_t near() const;
  /// The best trial's; there is one.
  SettingsFile settings() const;
  /// The same, and what else all trials had of a settings file, if one is named.
  Result<SettingsFile> settings_with(const std::string& file) const;
};

}  // namespace weir
