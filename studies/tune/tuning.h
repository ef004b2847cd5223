// The result of a search for the best settings: its trials, and the best of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/experiment/settings_file.h"
#include "studies/run/trial.h"
#include "studies/tune/tunables.h"

namespace weir {

constexpr double kNear = 0.02;  // for users, iterations up to this much longer than the best are equally good

/// The result of one point.
struct TuneTrial {
  tune::Point point;
  Outcome outcome;

  std::optional<double> seconds() const;  // of an iteration; none if it did not run
  bool simulated() const;  // whether that time was simulated, so that the row's label applies to it
};

/// A search, finished or interrupted. A value.
struct Tuning {
  Tuned about;
  std::vector<Tunable> tunables;
  std::vector<TuneTrial> trials;
  std::optional<std::size_t> best;  // index in trials
  std::optional<int> signal;        // that asked to end: SIGINT, SIGTERM or SIGHUP
  bool began_near = true;           // whether the first trial is the nearest to the experiment's settings

  /// The first trial within kNear of the best; there must be a best.
  std::size_t near() const;
  /// The settings of the best trial; there must be one.
  SettingsFile settings() const;
  /// The same, plus the settings that all trials took from the settings file, if one is named.
  Result<SettingsFile> settings_with(const std::string& file) const;
};

}  // namespace weir
