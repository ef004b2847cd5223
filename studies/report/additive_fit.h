// Finds the effect of each of several factors from runs in which all vary together: a least-squares fit of a
// sum of one function of each. If every combination was run once, these are the means over all else. If
// points are samples, means of a few would mostly show the other values drawn with them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace weir {

/// A value. Each factor (`thing`) has a basis: a vector of the same length in every run.
class AdditiveFit {
 public:
  using Basis = std::vector<double>;

  /// runs[i][j] is the basis of thing j in run i, whose result is `values[i]`. None if there are too few
  /// runs.
  static std::optional<AdditiveFit> of(const std::vector<std::vector<Basis>>& runs,
                                       const std::vector<double>& values);

  /// The sum at this basis of the thing, with everything else at its mean.
  double at(std::size_t thing, const Basis& basis) const;
  /// The fraction of the variance that the sum explains; the rest is due to interactions.
  double explained() const { return explained_; }

 private:
  double mean_ = 0;
  double explained_ = 1;
  std::vector<Basis> weights_;  // by thing
  std::vector<double> middle_;  // by thing: its mean basis over the runs
};

}  // namespace weir
