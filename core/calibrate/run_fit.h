// Values of a topology and of the model from real runs: those with which simulation foretells the times of
// their iterations best. Gauss and Newton's method over simulations, robust against runs that went wrong.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/calibrate/least_squares.h"
#include "core/calibrate/misses.h"
#include "core/calibrate/prediction.h"
#include "core/calibrate/real_runs.h"
#include "core/calibrate/run_parameter.h"

namespace weir {

struct RunFit {
  std::vector<CalibratedValue> values;  // those that the runs tell
  std::vector<std::string> untold;      // paths that runs use and whose values they do not tell
  std::vector<std::string> missed;      // of these, those whose runs were foretold wrong
};

/// Rates that have the same value in the topology and are of the same kind, as those of all NICs, are fitted
/// as one. `known` values are what benchmarks told: fits of links and messages start there, and all others
/// stay.
///
/// What is told: a rate, or an efficiency, whose standard error is at most 5 %; a time (the latency of the
/// network, the overhead of messages) whose standard error is at most the time itself, or what stood there,
/// and changes no run by more than 2 %; what is three standard errors from what stood there; and fewer values
/// than there are kinds of runs. A value most of whose runs are foretold more than 10 % wrong is not told.
class RunFitter {
 public:
  /// Makes the plans of the runs, each kind of run once.
  static Result<RunFitter> make(const Topology& topology, std::vector<RealRun> runs, Values known);

  /// The number of runs that are equal but for their times, for those who split them: by run.
  const std::vector<std::size_t>& kinds() const { return kind_; }

  /// Fits the runs of these numbers.
  Result<RunFit> fit(const std::vector<std::size_t>& numbers);

  /// What simulation says of the runs of these numbers, with these values.
  Result<std::vector<Predicted>> predict(const std::vector<std::size_t>& numbers, const Values& values);

 private:
  /// A fit under way.
  struct Search {
    std::vector<std::size_t> numbers;                   // of the runs
    std::vector<RunParameter> all;                      // as they are now
    std::map<std::size_t, double> times;                // the logarithm of each kind's, as predicted now
    std::map<std::size_t, std::vector<double>> slopes;  // of it along each parameter
    std::vector<double> effect;                         // the steepest slope along each
    std::set<std::size_t> active;                       // those that are told, as far as is known
    std::vector<double> errors;                         // standard errors of the logarithms
    double spread = 0.0;                                // of the runs that did not go wrong
    std::set<std::size_t> missed;  // those that are not, as their runs are foretold wrong
  };

  std::set<std::string> used_by(const std::vector<std::size_t>& numbers) const;
  Values values_of(const Search& search) const;
  Result<double> log_time(std::size_t kind, const Values& values);
  bool uses(std::size_t kind, const RunParameter& parameter) const;
  /// Of all kinds, or of those that use what changed.
  Result<void> foretell(Search& search, const RunParameter* changed = nullptr);
  Result<void> find_slopes(Search& search);
  LeastSquares problem(const Search& search, double finest) const;
  Eigen::VectorXd residuals(const Search& search) const;
  double cost(const Search& search, double spread, double of_prior) const;
  LeastSquaresFit tangential(const Search& search, double finest) const;
  Result<void> begin(Search& search);
  Result<void> descend(Search& search, double finest);
  static double doubt(const Search& search, std::size_t p);
  bool mostly_missed(const Search& search, std::size_t p) const;
  std::optional<std::size_t> untold(const Search& search) const;
  RunFit told(const Search& search) const;
  CalibratedValue value_of(const RunParameter& parameter, std::size_t path,
                           const std::vector<std::size_t>& numbers) const;

  Topology topology_;
  std::vector<RealRun> runs_;
  Values known_;
  std::vector<std::size_t> kind_;                       // of each run
  std::vector<std::unique_ptr<PreparedRun>> prepared_;  // by kind
};

}  // namespace weir
