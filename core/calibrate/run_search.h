// Searches for the values with which simulation predicts real runs best: Gauss-Newton over simulations,
// robust against runs that went wrong.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/calibrate/least_squares.h"
#include "core/calibrate/misses.h"
#include "core/calibrate/prepared_runs.h"
#include "core/calibrate/run_parameter.h"

namespace weir {

/// The state of a search. Copies continue independently on the same runs, which must outlive them.
class RunSearch {
 public:
  /// Searches for the values of the runs with these numbers, from the present state of the parameters.
  static Result<RunSearch> make(const PreparedRuns& runs, std::vector<std::size_t> numbers,
                                std::vector<RunParameter> parameters);

  const std::vector<std::size_t>& numbers() const { return numbers_; }
  const std::vector<RunParameter>& parameters() const { return all_; }
  /// The parameters searched for. All others have the value that the topology and experiments state.
  const std::set<std::size_t>& active() const { return active_; }
  std::size_t kinds() const { return times_.size(); }
  /// The standard error of a parameter's logarithm at the end of the last descent.
  double error(std::size_t parameter) const { return errors_[parameter]; }
  /// How far beyond the end of its range a parameter's logarithm would go at the end of the last descent if
  /// it had no range; 0 if its best value lies within.
  double beyond(std::size_t parameter) const { return beyond_[parameter]; }
  /// The slope of the logarithm of the run's time along a parameter; for a time, per second.
  double slope(std::size_t number, std::size_t parameter) const;
  /// The steepest slope of any run.
  double steepest(std::size_t parameter) const;
  /// What simulation predicts for the run.
  Predicted predicted(std::size_t number) const;
  /// The number of kinds with most runs predicted wrong. (A single wrong run among right repetitions went
  /// wrong itself.)
  std::size_t missed_kinds() const;
  Values values() const;

  /// Finds the best values from here, and also from elsewhere if kinds are missed. May make separate
  /// parameters of values that were fitted as one. All parameters must be active.
  Result<void> find();
  /// Takes steps from here as long as they help.
  Result<void> descend();
  /// Takes the parameter out of the search.
  Result<void> drop(std::size_t parameter);
  /// Makes the paths of this group a parameter of their own, the last one. The parameter must have other
  /// groups.
  Result<void> separate(std::size_t parameter, const std::string& group);

 private:
  double log_time(std::size_t number) const { return times_.at(runs_->kind[number]); }
  Eigen::VectorXd residuals() const;
  bool uses(std::size_t kind, const RunParameter& parameter) const;
  Result<void> predict(const RunParameter* changed = nullptr);
  Result<void> find_slopes(std::size_t parameter);
  LeastSquares problem(double finest) const;
  /// The minimum of the linear problem, and how far each column goes beyond its range without it.
  struct Tangential {
    LeastSquaresFit fit;
    Eigen::VectorXd beyond;
  };
  Tangential tangential(double finest) const;
  double cost(double spread, double of_prior) const;
  double gain_of(const RunSearch& other, double of_prior) const;
  Result<void> descend(double finest);
  Result<void> descend_twice();
  Result<void> find_elsewhere();
  Result<void> find_separately();

  const PreparedRuns* runs_ = nullptr;
  std::vector<std::size_t> numbers_;
  std::vector<RunParameter> all_;
  std::set<std::size_t> active_;
  std::map<std::size_t, double> times_;                // the logarithm of each kind's predicted time
  std::map<std::size_t, std::vector<double>> slopes_;  // its slope along each parameter
  std::vector<double> errors_;
  std::vector<double> beyond_;
  double spread_ = 0.0;  // of the runs, without those that went wrong
};

}  // namespace weir
