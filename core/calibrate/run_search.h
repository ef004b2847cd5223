// The search for values with which simulation foretells real runs best: Gauss and Newton's method over
// simulations, robust against runs that went wrong.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/calibrate/least_squares.h"
#include "core/calibrate/prediction.h"
#include "core/calibrate/real_runs.h"
#include "core/calibrate/run_parameter.h"

namespace weir {

/// Real runs, and a plan for each kind of them: those of one kind differ in nothing but their times.
struct PreparedRuns {
  static Result<PreparedRuns> make(std::vector<RealRun> runs, Values known);

  std::vector<RealRun> runs;
  Values known;                                        // what benchmarks told
  std::vector<std::size_t> kind;                       // of each run
  std::vector<std::unique_ptr<PreparedRun>> prepared;  // by kind

  const Uses& uses(std::size_t run) const { return prepared[kind[run]]->uses(); }
  /// The logarithm of what an iteration takes, in seconds.
  Result<double> log_time(std::size_t which, const Values& values) const;  // of the kinds
};

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
  /// By how much the runs take longer than foretold, as logarithms.
  Eigen::VectorXd residuals() const;
  /// The logarithm of what simulation says of the run.
  double log_time(std::size_t number) const { return times_.at(runs_->kind[number]); }
  Values values() const;

  /// To the best that is found from here, and from elsewhere if runs are foretold wrong from here. What was
  /// fitted as one may be apart thereafter. All parameters are active.
  Result<void> begin();
  /// Steps from here, each as long as it helps.
  Result<void> descend();
  /// Looks for it no longer.
  Result<void> drop(std::size_t parameter);
  /// Makes those of its paths that are of this group a parameter of their own, the last. It has others too.
  void split(std::size_t parameter, const std::string& group);

 private:
  bool uses(std::size_t kind, const RunParameter& parameter) const;
  Result<void> foretell(const RunParameter* changed = nullptr);
  Result<void> find_slopes();
  LeastSquares problem(double finest) const;
  LeastSquaresFit tangential(double finest) const;
  double cost(double spread, double of_prior) const;
  double gain_of(const RunSearch& other) const;
  bool kinds_missed() const;
  Result<void> descend(double finest);
  Result<void> descend_twice();
  Result<void> take_if_better(RunSearch other, double by);
  Result<void> take_apart();

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
