// Computes the time and cost of an iteration in each scenario with each number of CPU machines, by simulation
// or from bounds alone.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "studies/run/trial.h"
#include "studies/whatif/answers.h"
#include "studies/whatif/scenarios.h"

namespace weir {

struct WhatifSettings {
  std::optional<World> world;  // a simulated one; none: bounds replace times
  std::uint64_t seed = 1;
  int jobs = 1;  // runs at once
};

/// Runs of one scenario that have no answer for the same reason.
struct NoAnswer {
  Scenario scenario;
  std::vector<int> counts;  // of CPU machines, ascending
  Outcome::Kind kind = Outcome::Kind::kFailed;
  std::string why;
};

/// A value.
struct WhatifAnswers {
  std::vector<Series> series;     // one for each scenario
  std::vector<NoAnswer> missing;  // first what is impossible, then what failed
  std::size_t runs = 0;           // total number
  std::size_t ended = 0;          // of these
  std::optional<int> signal;      // that asked to end: SIGINT, SIGTERM or SIGHUP

  /// Whether any scenario has an answer.
  bool any() const;
  /// Whether all runs are done and there is an answer: only then is there advice.
  bool whole() const { return !signal && any(); }
  /// How many runs failed.
  std::size_t failed() const;
};

/// Runs every scenario with every number of CPU machines, each run in a process of its own. Calls `ended` in
/// this process with the number of ended runs. Call it from a process with one thread.
WhatifAnswers answer_whatif(const Scenarios& scenarios, const WhatifSettings& settings,
                            const std::function<void(std::size_t ended)>& ended = {});

/// What to do, in a sentence; some series must have an answer.
std::string advice(const std::vector<Series>& series, const Scenarios& scenarios);

}  // namespace weir
