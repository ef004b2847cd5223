// Summarizes the runs of a study: each strategy's best and typical run, and the effect of each varied factor
// on it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "studies/run/results.h"

namespace weir {

/// A strategy on one of the traces; samples of different models cannot be compared.
struct StrategySummary {
  std::string strategy;
  std::size_t trace = 0;  // a position in the study's list
  std::size_t runs = 0;   // planned runs
  std::size_t rows = 0;   // runs with a result
  std::size_t impossible = 0;
  std::size_t failed = 0;
  std::size_t fastest = 0;                     // number of points and seeds at which no other was faster
  std::optional<std::size_t> best;             // the run with most samples per second
  std::vector<double> speedups;                // ascending
  std::vector<double> of_bound;                // ascending, in percent
  std::map<std::string, std::size_t> binding;  // how often each kind was the bottleneck: "gpu.nic.out"
};

/// In the order of the study: by trace, then strategy.
std::vector<StrategySummary> summaries(const Results& results);

/// The median of at least one number in ascending order.
double median(const std::vector<double>& ascending);

/// "gpu[3].nic0.out" has the kind "gpu.nic.out".
std::string kind_of_resource(const std::string& name);

/// The effect of one value, with everything else at its mean, from a fit of the logarithms (additive_fit.h).
struct Level {
  double x = 0;  // the value as a number, or its position among the names
  std::string label;
  double iteration_s = 0;
  std::optional<double> speedup;  // over the baseline; none for strategies without one
};

struct EffectLine {
  std::string strategy;
  std::vector<Level> levels;                          // empty if there are too few runs
  std::vector<std::pair<double, std::size_t>> cloud;  // where values are samples: x and index of each run
  /// The slowest level's iteration over the fastest one's; none if there are fewer than two levels.
  std::optional<double> ratio() const;
};

/// The effects of what one axis varies.
struct Effect {
  enum class Unit { kNone, kNumber, kSize, kRate, kDuration };  // in bytes, bits per second, ns
  std::string path;
  Unit unit = Unit::kNone;              // unit of the values; kNone means names
  std::vector<std::string> categories;  // the names
  bool logarithmic = false;             // whether values are spread logarithmically
  std::vector<EffectLine> lines;        // by strategy; only strategies with runs
};

struct Effects {
  std::vector<Effect> axes;  // in the order of the study
  /// By strategy: the fraction of the variance of the iterations' logarithms that the axes explain
  /// separately.
  std::map<std::string, double> explained;
};

Effects effects(const Results& results);

}  // namespace weir
