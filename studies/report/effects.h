// What the runs of a study say together: each strategy's best and typical run, and what each of the varied
// things does to them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "studies/run/results.h"

namespace weir {

/// A strategy, on one of the traces: samples of different models do not compare.
struct StrategySummary {
  std::string strategy;
  std::size_t trace = 0;  // a position in the study's list
  std::size_t runs = 0;   // that there are to be
  std::size_t rows = 0;   // that ran
  std::size_t impossible = 0;
  std::size_t failed = 0;
  std::size_t fastest = 0;                     // at how many points with how many seeds no other was faster
  std::optional<std::size_t> best;             // the run with most samples per second
  std::vector<double> speedups;                // ascending
  std::vector<double> of_bound;                // ascending, in percent
  std::map<std::string, std::size_t> binding;  // by kind of resource: "gpu.nic.out"
};

/// In the order of the study: by trace, then strategy.
std::vector<StrategySummary> summaries(const Results& results);

/// Of numbers in ascending order, of which there is at least one.
double median(const std::vector<double>& ascending);

/// "gpu[3].nic0.out" is of the kind "gpu.nic.out".
std::string kind_of_resource(const std::string& name);

/// What a value does, with all else at its mean, by a fit of the logarithms (additive_fit.h).
struct Level {
  double x = 0;  // the value as a number, or its position among the names
  std::string label;
  double iteration_s = 0;
  std::optional<double> speedup;  // over the baseline; none of a strategy that has none
};

struct EffectLine {
  std::string strategy;
  std::vector<Level> levels;                          // of too few runs none
  std::vector<std::pair<double, std::size_t>> cloud;  // the single runs, where values are samples: x and run
  /// The slowest level's iteration over the fastest one's; none if there are not two.
  std::optional<double> ratio() const;
};

/// What is varied along one axis.
struct Effect {
  enum class Unit { kNone, kNumber, kSize, kRate, kDuration };  // numbers are bytes, bits per second, ns
  std::string path;
  Unit unit = Unit::kNone;              // what values are; none: names
  std::vector<std::string> categories;  // the names
  bool logarithmic = false;             // as values are spread
  std::vector<EffectLine> lines;        // by strategy, those with runs alone
};

struct Effects {
  std::vector<Effect> axes;  // in the order of the study
  /// Of the iterations' logarithms, by strategy: how much of their variance the axes explain one by one,
  /// of 1.
  std::map<std::string, double> explained;
};

Effects effects(const Results& results);

}  // namespace weir
