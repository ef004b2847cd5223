// The search for values with which simulation foretells real runs best: Gauss and Newton's method over
// simulations, robust against runs that went wrong.
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

/// Where a search is. Copies go on by themselves, on the same runs, which outlive them.
class RunSearch {
 public:
  /// For the values of the runs of these numbers, from where the parameters are.
  static Result<RunSearch> make(const PreparedRuns& runs, std::vector<std::size_t> numbers,
                                std::vector<RunParameter> parameters);

  const std::vector<std::size_t>& numbers() const { return numbers_; }
  const std::vector<RunParameter>& parameters() const { return all_; }
  /// Those that are looked for; all others have the value that the topology and experiments say.
  const std::set<std::size_t>& active() const { return active_; }
  std::size_t kinds() const { return times_.size(); }
  /// The standard error of a parameter's logarithm, where the last descent ended.
  double error(std::size_t parameter) const { return errors_[parameter]; }
  /// Of the logarithm of the run's time along a parameter: of times by the second.
  double slope(std::size_t number, std::size_t parameter) const;
  /// The steepest of any run.
  double steepest(std::size_t parameter) const;
  /// What simulation says of the run.
  Predicted predicted(std::size_t number) const;
  /// Of how many kinds most runs are foretold wrong: a run that its repetitions deny went wrong itself.
  std::size_t missed_kinds() const;
  Values values() const;

  /// To the best that is found from here, and from elsewhere if kinds are missed from here. What was fitted
  /// as one may be separate thereafter. All parameters are active.
  Result<void> find();
  /// Steps from here, each as long as it helps.
  Result<void> descend();
  /// Looks for it no longer.
  Result<void> drop(std::size_t parameter);
  /// Makes those of its paths that are of this group a parameter of their own, the last. It has others too.
  Result<void> separate(std::size_t parameter, const std::string& group);

 private:
  double log_time(std::size_t number) const { return times_.at(runs_->kind[number]); }
  Eigen::VectorXd residuals() const;
  bool uses(std::size_t kind, const RunParameter& parameter) const;
  Result<void> foretell(const RunParameter* changed = nullptr);
  Result<void> find_slopes(std::size_t parameter);
  LeastSquares problem(double finest) const;
  LeastSquaresFit tangential(double finest) const;
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
  std::map<std::size_t, double> times_;                // the logarithm of each kind's, as predicted now
  std::map<std::size_t, std::vector<double>> slopes_;  // of it along each parameter
  std::vector<double> errors_;
  double spread_ = 0.0;  // of the runs that did not go wrong
};

}  // namespace weir
