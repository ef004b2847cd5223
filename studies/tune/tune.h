// Searches for the settings of a strategy with the shortest iteration in an experiment.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/document/fields.h"
#include "core/experiment/experiment_file.h"
#include "core/tune/search.h"
#include "studies/tune/tuning.h"

namespace weir {
namespace tune {

constexpr auto enum_names(Method /*method*/) {
  return std::array<Named<Method>, 3>{
      {{Method::kBayes, "bayes"}, {Method::kGrid, "grid"}, {Method::kRandom, "random"}}};
}

}  // namespace tune

constexpr std::size_t kMostTrials = 10'000;  // the same limit as for an experiment's points

struct TuneSettings {
  std::optional<std::string> strategy;  // or a variant; may be left out if the experiment has only one
  std::string over;  // what to vary (tunables.h); empty: what usually matters for the strategy
  tune::Method method = tune::Method::kBayes;
  std::optional<std::size_t> trials;     // at most; default: 25, or all points of a grid
  std::optional<std::size_t> steps;      // at most this many iterations in total, warm-up included
  std::uint64_t seed = 1;                // for the choice of trials
  int jobs = 1;                          // runs at once, in simulation, if several trials are known ahead
  Duration deadline{3'600'000'000'000};  // of each trial
  Streams streams;                       // for real runs: where the search begins
  /// What must not be varied, because the caller has set it; and what set it, for error messages.
  std::map<std::string, std::string> fixed;
  std::vector<std::string> set;  // the settings that override the experiment, "path=value", for the result
};

/// The checked inputs of a search. A value.
struct TuneSubject {
  ExperimentFile file;
  Experiment experiment;
  std::string strategy;
  std::vector<Tunable> tunables;
  std::size_t trials = 0;

  /// Fails if the settings do not fit the experiment. The error begins with the name of the setting.
  static Result<TuneSubject> of(ExperimentFile file, const TuneSettings& settings, bool simulated);
};

/// Makes the world for experiments with these streams.
using WorldWith = std::function<Result<World>(const Streams& streams)>;

/// Progress for callers. Called in this process; each function may be empty.
struct TuneEvents {
  /// Called after each run with the number of ended runs. Concurrent runs end in any order.
  std::function<void(std::size_t ended)> ended;
  /// Called for each trial, in order, counted from 0.
  std::function<void(std::size_t number, const TuneTrial& trial)> trial;
};

/// Runs trials, each in a process of its own, until the search ends or a signal arrives. Fails if none of the
/// first trials ran. Call it from a process with one thread.
Result<Tuning> tune_experiment(const TuneSubject& subject, const TuneSettings& settings,
                               const WorldWith& world_with, const TuneEvents& events = {});

}  // namespace weir
