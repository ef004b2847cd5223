// What each of several things does by itself, from runs in which all of them vary together: least squares of
// a sum of one function of each. Where every combination was run once, these are the means over all else;
// where points are samples, means of a few would tell more of what else was drawn with them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace weir {

/// A value. Each thing has a basis: as many numbers in every run.
class AdditiveFit {
 public:
  using Basis = std::vector<double>;

  /// runs[i][j] is the basis of thing j in run i, which came to `values[i]`. None if runs are too few to
  /// tell.
  static std::optional<AdditiveFit> of(const std::vector<std::vector<Basis>>& runs,
                                       const std::vector<double>& values);

  /// The sum at this basis of the thing, with all else at its mean.
  double at(std::size_t thing, const Basis& basis) const;
  /// How much of the variance the sum explains, of 1: the rest is what things do together.
  double explained() const { return explained_; }

 private:
  double mean_ = 0;
  double explained_ = 1;
  std::vector<Basis> weights_;  // by thing
  std::vector<double> middle_;  // by thing: its mean over the runs
};

}  // namespace weir
