// Compares runs with what a publication reports for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/run/results.h"

namespace weir {

/// One published value, and our result.
struct Comparison {
  std::string experiment;  // its folder or file, without what all of a suite have in common
  std::string source;
  std::string calibrated_on;
  std::string strategy;
  std::string at;  // the values of the sweep, by the ends of their paths
  Measure measure = Measure::kIteration;
  double published = 0.0;      // in the unit of PublishedCurve::numbers
  std::optional<double> ours;  // none if the run has no row
  double tolerance = 0.0;

  /// Ours / theirs - 1.
  std::optional<double> error() const;
  bool within() const;
};

/// Compares every published value of the experiment with the runs that have its first seed.
std::vector<Comparison> comparisons(const ExperimentFile& file, const Experiment& experiment,
                                    const Results& results, const std::string& name);

/// A table for terminals.
std::string text(const std::vector<Comparison>& all);
/// CSV for programs and plots, in seconds, or bytes or samples per second.
std::string csv(const std::vector<Comparison>& all);
/// A Markdown table for each experiment.
std::string markdown(const std::vector<Comparison>& all);

}  // namespace weir
