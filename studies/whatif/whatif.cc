#include "studies/whatif/whatif.h"

#include <algorithm>

#include "studies/process/processes.h"
#include "studies/whatif/bounds.h"

namespace weir {
namespace {

/// All runs: each scenario with each number of CPU machines.
class WhatifRuns {
 public:
  WhatifRuns(const Scenarios& scenarios, const WhatifSettings& settings)
      : scenarios_(scenarios),
        settings_(settings),
        outcomes_(scenarios.scenarios().size() * scenarios.counts().size()) {}

  std::size_t size() const { return outcomes_.size(); }
  std::size_t ended() const { return ended_; }

  /// Runs until all have ended or a signal arrives.
  std::optional<int> run(const std::function<void(std::size_t ended)>& progress) {
    const Signals signals;
    const Task task = [&](std::size_t index) {
      return text(guarded([&] {
        const Experiment experiment = scenarios_.experiment(scenario(index), count(index));
        const std::string& strategy = scenario(index).strategy;
        return settings_.world ? weir::run({strategy, settings_.seed, {}}, experiment, *settings_.world)
                               : bound_alone(strategy, experiment);
      }));
    };
    const Ended ended = [&](std::size_t index, const Result<std::string>& text) {
      outcomes_[index] = text ? outcome_from(*text) : Outcome{Outcome::Kind::kFailed, {}, text.error().text};
      ++ended_;
      if (progress) progress(ended_);
    };
    const std::optional<int> signal =
        run_in_processes(outcomes_.size(), settings_.jobs, task, ended, signals);
    return signal ? signal : signals.arrived();
  }

  /// The results.
  std::vector<Series> series() const {
    std::vector<Series> all;
    for (const Scenario& one : scenarios_.scenarios()) all.push_back({one, {}});
    const bool priced = !scenarios_.unpriced();
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      if (!outcomes_[i] || outcomes_[i]->kind != Outcome::Kind::kRow) continue;
      std::optional<double> price;
      if (priced) price = price_an_hour(scenarios_.experiment(scenario(i), count(i)).topology);
      all[i / scenarios_.counts().size()].answers.push_back(
          answer_of(scenario(i), count(i), outcomes_[i]->row, price));
    }
    for (Series& one : all) compare(one.answers);
    return all;
  }

  /// Adds the runs that ended in this way. Successive runs of a scenario with the same reason share an entry.
  void add_missing(Outcome::Kind kind, std::vector<NoAnswer>& missing) const {
    const std::size_t before = missing.size();
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      if (!outcomes_[i] || outcomes_[i]->kind != kind) continue;
      const std::string who = text(scenario(i));
      const std::string& why = outcomes_[i]->text;
      if (missing.size() == before || text(missing.back().scenario) != who || missing.back().why != why)
        missing.push_back({scenario(i), {}, kind, why});
      missing.back().counts.push_back(count(i));
    }
  }

 private:
  const Scenario& scenario(std::size_t index) const {
    return scenarios_.scenarios()[index / scenarios_.counts().size()];
  }
  int count(std::size_t index) const { return scenarios_.counts()[index % scenarios_.counts().size()]; }

  const Scenarios& scenarios_;
  const WhatifSettings& settings_;
  std::vector<std::optional<Outcome>> outcomes_;
  std::size_t ended_ = 0;
};

// Judged by the bound of the optimal split only, because other strategies' bounds need large plans.
bool more_helps(const Scenarios& scenarios, const Scenario& scenario, std::int64_t count) {
  constexpr int kMostMachines = 2048;
  if ((*strategy_named(scenario.strategy))->kind != StrategyKind::kSplit) return false;
  if (count == 0 || count > kMostMachines) return false;
  const auto bound = [&](std::int64_t machines) {
    const auto split = bound_of_split(scenarios.experiment(scenario, static_cast<int>(machines)));
    return split ? split->time.seconds() : 0.0;
  };
  return bound(count) > bound(2 * count) * (1 + kKnee);
}

}  // namespace

bool WhatifAnswers::any() const {
  return std::any_of(series.begin(), series.end(), [](const Series& one) { return !one.answers.empty(); });
}

std::size_t WhatifAnswers::failed() const {
  std::size_t count = 0;
  for (const NoAnswer& one : missing) count += one.kind == Outcome::Kind::kFailed ? one.counts.size() : 0;
  return count;
}

WhatifAnswers answer_whatif(const Scenarios& scenarios, const WhatifSettings& settings,
                            const std::function<void(std::size_t ended)>& ended) {
  WhatifRuns runs(scenarios, settings);
  WhatifAnswers answers;
  answers.signal = runs.run(ended);
  answers.series = runs.series();
  runs.add_missing(Outcome::Kind::kImpossible, answers.missing);
  runs.add_missing(Outcome::Kind::kFailed, answers.missing);
  answers.runs = runs.size();
  answers.ended = runs.ended();
  return answers;
}

std::string advice(const std::vector<Series>& series, const Scenarios& scenarios) {
  return advice(series, [&](const Scenario& scenario, std::int64_t count) {
    return more_helps(scenarios, scenario, count);
  });
}

}  // namespace weir
