// Searches for the settings of a strategy with the shortest iteration of an experiment.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/experiment/experiment_file.h"
#include "core/tune/search.h"
#include "studies/tune/tuning.h"

namespace weir {

constexpr std::size_t kMostTrials = 10'000;  // as of an experiment's points

struct TuneSettings {
  std::string strategy;  // or a variant; may be empty if the experiment has one
  std::string over;      // what to vary (tunables.h); empty: what usually matters for the strategy
  tune::Method method = tune::Method::kBayes;
  std::optional<std::size_t> trials;     // at most: 25, or all points of a grid, if left out
  std::optional<std::size_t> steps;      // at most so many iterations in all, those that warm up included
  std::uint64_t seed = 1;                // of the choice of trials
  int jobs = 1;                          // runs at once, in simulation, where several trials are known ahead
  Duration deadline{3'600'000'000'000};  // of each trial
  Streams streams;                       // of real runs: with these the search begins
  /// What must not be varied, as a caller has set it already; and by what, for complaints.
  std::map<std::string, std::string> fixed;
  std::vector<std::string> set;  // what replaced values of the experiment, "path=value": for the result
};

/// What a search is made of, all of it known to be right. A value.
struct TuneSubject {
  ExperimentFile file;
  Experiment experiment;
  std::string strategy;
  std::vector<Tunable> tunables;
  std::size_t trials = 0;

  /// Fails if the settings do not fit the experiment.
  static Result<TuneSubject> of(ExperimentFile file, const TuneSettings& settings, bool simulated);
};

/// The world in which experiments run that have these streams.
using WorldWith = std::function<Result<World>(const Streams& streams)>;

/// What a caller may want to know meanwhile. Called in this process; each may be empty.
struct TuneEvents {
  /// After each run: how many have ended. Runs that are done at once end in any order.
  std::function<void(std::size_t ended)> ended;
  /// For each trial, in their order, counted from 0.
  std::function<void(std::size_t number, const TuneTrial& trial)> trial;
};

/// Runs trials, each in a process of its own, until the search or a signal ends it. Fails if none of the
/// first trials ran. To be called from a process with one thread.
Result<Tuning> tune_experiment(const TuneSubject& subject, const TuneSettings& settings,
                               const WorldWith& world_with, const TuneEvents& events = {});

}  // namespace weir
