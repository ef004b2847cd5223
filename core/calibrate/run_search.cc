#include "core/calibrate/run_search.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/hash.h"
#include "core/calibrate/misses.h"
#include "core/experiment/experiment_file.h"

namespace weir {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kRounds = 12;
constexpr double kShortestPart = 0.1;
constexpr double kPinned = 1e6;        // one over a standard deviation
constexpr double kSettledCost = 0.02;  // that a round gains: of one run that is off by its spread, 0.5
constexpr double kLongestStep = 1.5;   // of a logarithm, in a round
constexpr double kCoarse = 0.2;        // a spread with which hardly any run counts as gone wrong
constexpr double kFinest = 5e-3;       // no run repeats more exactly
constexpr double kApart = 4.5;         // what values that are apart cost less: three standard errors

// Where else descents begin, as logarithms of rates, which trade against all others.
constexpr std::array<double, 2> kElsewhere = {0.4, -0.4};

}  // namespace

Result<PreparedRuns> PreparedRuns::make(std::vector<RealRun> runs, Values known) {
  PreparedRuns all;
  all.known = std::move(known);
  std::map<std::string, std::size_t> kinds;
  std::map<std::pair<const Experiment*, std::string>, std::string> texts;
  for (const RealRun& run : runs) {
    std::string& text = texts[{run.experiment.get(), run.contender}];
    if (text.empty()) text = hash_of(whole_text(*run.experiment, run.contender)) + run.contender;
    const auto [at, fresh] = kinds.try_emplace(text, all.prepared.size());
    all.kind.push_back(at->second);
    if (!fresh) continue;
    auto prepared = PreparedRun::make(run);
    if (!prepared) return tl::unexpected(prepared.error());
    all.prepared.push_back(std::move(*prepared));
  }
  all.runs = std::move(runs);
  return all;
}

Result<double> PreparedRuns::log_time(std::size_t which, const Values& values) const {
  const auto time = prepared[which]->predict(values);
  if (!time) return tl::unexpected(time.error());
  return std::log(std::max(time->seconds(), 1e-9));
}

Result<RunSearch> RunSearch::make(const PreparedRuns& runs, std::vector<std::size_t> numbers,
                                  std::vector<RunParameter> parameters) {
  RunSearch search;
  search.runs_ = &runs;
  search.numbers_ = std::move(numbers);
  search.all_ = std::move(parameters);
  search.errors_.assign(search.all_.size(), 0.0);
  for (std::size_t p = 0; p < search.all_.size(); ++p) search.active_.insert(p);
  if (const auto foretold = search.foretell(); !foretold) return tl::unexpected(foretold.error());
  return search;
}

double RunSearch::slope(std::size_t number, std::size_t parameter) const {
  return slopes_.at(runs_->kind[number])[parameter];
}

double RunSearch::steepest(std::size_t parameter) const {
  double steepest = 0;
  for (const auto& [kind, slopes] : slopes_) steepest = std::max(steepest, std::abs(slopes[parameter]));
  return steepest;
}

VectorXd RunSearch::residuals() const {
  VectorXd residuals(std::ssize(numbers_));
  for (Eigen::Index row = 0; row < residuals.size(); ++row) {
    const std::size_t number = numbers_[static_cast<std::size_t>(row)];
    residuals[row] = std::log(runs_->runs[number].iteration.seconds()) - log_time(number);
  }
  return residuals;
}

Values RunSearch::values() const {
  Values values = runs_->known;
  for (const std::size_t p : active_) {
    for (std::size_t i = 0; i < all_[p].paths.size(); ++i) values[all_[p].paths[i]] = all_[p].value(i);
  }
  return values;
}

bool RunSearch::uses(std::size_t kind, const RunParameter& parameter) const {
  const auto& used = runs_->prepared[kind]->uses().values;
  return std::ranges::any_of(parameter.paths, [&](const std::string& path) { return used.contains(path); });
}

// All kinds, or those that use what changed.
Result<void> RunSearch::foretell(const RunParameter* changed) {
  const Values now = values();
  std::set<std::size_t> kinds;
  for (const std::size_t number : numbers_) kinds.insert(runs_->kind[number]);
  for (const std::size_t kind : kinds) {
    if (changed != nullptr && !uses(kind, *changed)) continue;
    const auto time = runs_->log_time(kind, now);
    if (!time) return tl::unexpected(time.error());
    times_[kind] = *time;
  }
  return {};
}

// Of times themselves, of all others of logarithms.
Result<void> RunSearch::find_slopes() {
  const std::map<std::size_t, double> before = times_;
  slopes_.clear();
  for (const auto& [kind, time] : before) slopes_[kind].assign(all_.size(), 0.0);
  for (const std::size_t p : active_) {
    const double here = all_[p].x;
    all_[p].x = all_[p].stepped();
    if (auto foretold = foretell(&all_[p]); !foretold) return foretold;
    all_[p].x = here;
    for (const auto& [kind, after] : times_) slopes_[kind][p] = (after - before.at(kind)) / all_[p].step();
    times_ = before;
  }
  return {};
}

// Of the active parameters: the logarithms of times, which are about as exact as each other.
LeastSquares RunSearch::problem(double finest) const {
  LeastSquares problem;
  const auto columns = std::ssize(active_);
  problem.a.resize(std::ssize(numbers_), columns);
  problem.b = residuals();
  problem.prior_a = MatrixXd::Zero(columns, columns);
  problem.prior_b = VectorXd::Zero(columns);
  problem.finest = finest;
  Eigen::Index column = 0;
  for (const std::size_t p : active_) {
    const RunParameter& parameter = all_[p];
    const double inner = parameter.unit == RunParameter::Unit::kTime ? parameter.now() : 1.0;
    for (Eigen::Index row = 0; row < std::ssize(numbers_); ++row) {
      problem.a(row, column) = slope(numbers_[static_cast<std::size_t>(row)], p) * inner;
      problem.b[row] += problem.a(row, column) * parameter.x;
    }
    problem.prior_a(column, column) = 1 / parameter.prior();
    ++column;
  }
  return problem;
}

// Where the tangents at this place say that the least is; within the ranges of all parameters.
LeastSquaresFit RunSearch::tangential(double finest) const {
  LeastSquares linear = problem(finest);
  LeastSquaresFit fit = robust_fit(linear);
  bool beyond = false;
  Eigen::Index column = 0;
  for (const std::size_t p : active_) {
    if (const double end = all_[p].most(); fit.x[column] > end) {
      beyond = true;
      linear.prior_a(column, column) = kPinned;
      linear.prior_b[column] = kPinned * end;
    }
    ++column;
  }
  if (!beyond) return fit;
  const VectorXd errors = fit.standard_errors;
  fit = robust_fit(linear);
  for (column = 0; column < errors.size(); ++column) {
    if (linear.prior_a(column, column) == kPinned) fit.standard_errors[column] = errors[column];
  }
  return fit;
}

// How badly the search does now, if runs have this spread: what goes wrong counts alike, however wrong it is.
// What is believed beforehand has its part of it.
double RunSearch::cost(double spread, double of_prior) const {
  double cost = 0;
  for (const double residual : residuals()) cost += robust_loss(residual / spread);
  for (const std::size_t p : active_) cost += of_prior * 0.5 * std::pow(all_[p].x / all_[p].prior(), 2);
  return cost;
}

// How much less the other costs.
double RunSearch::gain_of(const RunSearch& other) const {
  const double spread = std::min(spread_, other.spread_);
  return cost(spread, 1.0) - other.cost(spread, 1.0);
}

// Of some kind most runs: a run that its repetitions deny went wrong itself.
bool RunSearch::kinds_missed() const {
  const VectorXd missed = residuals();
  std::map<std::size_t, int> more;  // wrong than right
  for (Eigen::Index row = 0; row < missed.size(); ++row) {
    const std::size_t kind = runs_->kind[numbers_[static_cast<std::size_t>(row)]];
    more[kind] += std::abs(missed[row]) > kWrongPercent / 100 ? 1 : -1;
  }
  return std::ranges::any_of(more, [](const auto& kind) { return kind.second > 0; });
}

// Errors are of where it ends.
Result<void> RunSearch::descend(double finest) {
  for (int round = 0;; ++round) {
    if (auto found = find_slopes(); !found) return found;
    const LeastSquaresFit solved = tangential(finest);
    // No finer than what runs miss now: else all would count as gone wrong, and no step would help.
    spread_ = std::max(solved.spread, spread_of(residuals(), std::ssize(active_), finest));
    const double finer = solved.spread / spread_;
    Eigen::Index column = 0;
    for (const std::size_t p : active_) errors_[p] = solved.standard_errors[column++] / finer;
    if (round == kRounds) return {};
    const RunSearch before = *this;
    double gain = 0;
    for (double part = 1; part >= kShortestPart && gain < kSettledCost; part /= 2) {
      column = 0;
      for (const std::size_t p : active_) {
        const double here = before.all_[p].x;
        const double far = std::clamp(solved.x[column++] - here, -kLongestStep, kLongestStep);
        all_[p].x = std::min(here + part * far, all_[p].most());
      }
      if (auto foretold = foretell(); !foretold) return foretold;
      gain = before.cost(spread_, finer * finer) - cost(spread_, finer * finer);
    }
    if (gain >= kSettledCost) continue;
    *this = before;
    return {};
  }
}

Result<void> RunSearch::descend() { return descend(kFinest); }

// Simulated times bend where something else begins to bind, so that descents may end apart: the better of one
// that forgets what is far off at once, and of one that comes to it by and by.
Result<void> RunSearch::descend_twice() {
  RunSearch slow = *this;
  if (auto done = descend(kFinest); !done) return done;
  for (const double finest : {kCoarse, std::sqrt(kCoarse * kFinest), kFinest}) {
    if (auto done = slow.descend(finest); !done) return done;
  }
  if (gain_of(slow) > 0) *this = std::move(slow);
  return {};
}

Result<void> RunSearch::take_if_better(RunSearch other, double by) {
  if (auto foretold = other.foretell(); !foretold) return foretold;
  if (auto done = other.descend_twice(); !done) return done;
  if (gain_of(other) > by) *this = std::move(other);
  return {};
}

// Runs that are foretold wrong went wrong, or the descents did.
Result<void> RunSearch::begin() {
  if (auto done = descend_twice(); !done || !kinds_missed()) return done;
  if (auto done = take_apart(); !done || !kinds_missed()) return done;
  for (const double rate : kElsewhere) {
    RunSearch other = *this;
    for (RunParameter& parameter : other.all_)
      parameter.x = parameter.unit == RunParameter::Unit::kRate ? rate : 0.0;
    if (auto done = take_if_better(std::move(other), 0.0); !done || !kinds_missed()) return done;
  }
  return {};
}

// Rates that are stated alike need not be.
Result<void> RunSearch::take_apart() {
  for (std::size_t p = 0; p < all_.size(); ++p) {
    for (const std::string& group : all_[p].groups()) {
      if (all_[p].groups().size() == 1) break;
      RunSearch other = *this;
      other.split(p, group);
      if (auto done = take_if_better(std::move(other), kApart); !done) return done;
    }
  }
  return {};
}

Result<void> RunSearch::drop(std::size_t parameter) {
  active_.erase(parameter);
  all_[parameter].x = 0;
  return foretell(&all_[parameter]);
}

void RunSearch::split(std::size_t parameter, const std::string& group) {
  all_.push_back(all_[parameter].split_off(group));
  active_.insert(all_.size() - 1);
  errors_.push_back(errors_[parameter]);
  for (auto& [kind, slopes] : slopes_) slopes.push_back(0.0);
}

}  // namespace weir
