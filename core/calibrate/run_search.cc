#include "core/calibrate/run_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/base/check.h"

namespace weir {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kRounds = 12;
constexpr double kShortestPart = 0.1;
constexpr double kPinned = 1e6;         // one over a standard deviation
constexpr double kSettledCost = 0.02;   // least gain of a round; a run that is off by the spread costs 0.5
constexpr double kLongestStep = 1.5;    // of a logarithm, per round
constexpr double kCoarse = 0.2;         // a spread so large that hardly any run counts as an outlier
constexpr double kFinest = 5e-3;        // no run repeats more exactly than this
constexpr double kApart = 4.5;          // least gain to separate values: three standard errors
constexpr double kSlower = -0.1;        // start of a separate rate, as a logarithm
constexpr std::size_t kApartKinds = 2;  // that separate values must miss fewer

// Other starts of descents, as logarithms of rates. All other parameters start at their stated values.
constexpr std::array<double, 2> kElsewhere = {0.4, -0.4};

}  // namespace

Result<RunSearch> RunSearch::make(const PreparedRuns& runs, std::vector<std::size_t> numbers,
                                  std::vector<RunParameter> parameters) {
  RunSearch search;
  search.runs_ = &runs;
  search.numbers_ = std::move(numbers);
  search.all_ = std::move(parameters);
  search.errors_.assign(search.all_.size(), 0.0);
  search.beyond_.assign(search.all_.size(), 0.0);
  for (std::size_t p = 0; p < search.all_.size(); ++p) search.active_.insert(p);
  if (const auto done = search.predict(); !done) return tl::unexpected(done.error());
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

Predicted RunSearch::predicted(std::size_t number) const {
  return {std::exp(log_time(number)), runs_->runs[number].iteration.seconds()};
}

std::size_t RunSearch::missed_kinds() const {
  std::map<std::size_t, int> more;  // runs predicted wrong than right
  for (const std::size_t number : numbers_) more[runs_->kind[number]] += predicted(number).wrong() ? 1 : -1;
  return static_cast<std::size_t>(
      std::ranges::count_if(more, [](const auto& kind) { return kind.second > 0; }));
}

// The logarithms of measured over predicted times.
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

// Simulates all kinds, or only those that use the changed parameter.
Result<void> RunSearch::predict(const RunParameter* changed) {
  const Values now = values();
  std::set<std::size_t> kinds;
  for (const std::size_t number : numbers_) kinds.insert(runs_->kind[number]);
  for (const std::size_t kind : kinds) {
    if (changed != nullptr && !uses(kind, *changed)) continue;
    const auto time = runs_->log_time_of_kind(kind, now);
    if (!time) return tl::unexpected(time.error());
    times_[kind] = *time;
  }
  return {};
}

// Slopes along times are per second, all others per logarithm.
Result<void> RunSearch::find_slopes(std::size_t parameter) {
  const std::map<std::size_t, double> before = times_;
  RunParameter& changed = all_[parameter];
  const double here = changed.x;
  changed.x = changed.stepped();
  auto done = predict(&changed);
  changed.x = here;
  if (!done) return done;
  for (const auto& [kind, after] : times_) {
    std::vector<double>& slopes = slopes_[kind];
    slopes.resize(all_.size());
    slopes[parameter] = (after - before.at(kind)) / changed.step();
  }
  times_ = before;
  return {};
}

// The linear problem for the active parameters. It is in logarithms of times, which are all about equally
// exact.
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

// The minimum of the linear problem, with all parameters within their ranges.
RunSearch::Tangential RunSearch::tangential(double finest) const {
  LeastSquares linear = problem(finest);
  LeastSquaresFit fit = robust_fit(linear);
  VectorXd beyond = VectorXd::Zero(fit.x.size());
  Eigen::Index column = 0;
  for (const std::size_t p : active_) {
    const double end = std::clamp(fit.x[column], all_[p].least(), all_[p].most());
    if (end != fit.x[column]) {
      beyond[column] = fit.x[column] - end;
      linear.prior_a(column, column) = kPinned;
      linear.prior_b[column] = kPinned * end;
    }
    ++column;
  }
  if (beyond.isZero(0)) return {fit, beyond};
  const VectorXd errors = fit.standard_errors;
  fit = robust_fit(linear);
  for (column = 0; column < errors.size(); ++column) {
    if (beyond[column] != 0) fit.standard_errors[column] = errors[column];
  }
  return {fit, beyond};
}

// The cost of the present values if runs have this spread. Runs that went wrong all cost the same, however
// wrong they are. Distance from the prior counts with weight `of_prior`.
double RunSearch::cost(double spread, double of_prior) const {
  double cost = 0;
  for (const double residual : residuals()) cost += robust_loss(residual / spread);
  for (const std::size_t p : active_) cost += of_prior * 0.5 * std::pow(all_[p].x / all_[p].prior(), 2);
  return cost;
}

// How much less the other search costs.
double RunSearch::gain_of(const RunSearch& other, double of_prior) const {
  const double spread = std::min(spread_, other.spread_);
  return cost(spread, of_prior) - other.cost(spread, of_prior);
}

// Standard errors are those at the end of the descent.
Result<void> RunSearch::descend(double finest) {
  for (int round = 0;; ++round) {
    for (const std::size_t p : active_) {
      if (auto found = find_slopes(p); !found) return found;
    }
    const auto [solved, beyond] = tangential(finest);
    // At least the spread of the present residuals. Otherwise all runs would count as outliers, and no step
    // help.
    spread_ = std::max(solved.spread, spread_of(residuals(), std::ssize(active_), finest));
    const double finer = solved.spread / spread_;
    Eigen::Index column = 0;
    for (const std::size_t p : active_) {
      beyond_[p] = beyond[column];
      errors_[p] = solved.standard_errors[column++] / finer;
    }
    if (round == kRounds) return {};
    const RunSearch before = *this;
    double gain = 0;
    for (double part = 1; part >= kShortestPart && gain < kSettledCost; part /= 2) {
      column = 0;
      for (const std::size_t p : active_) {
        const double here = before.all_[p].x;
        const double far = std::clamp(solved.x[column++] - here, -kLongestStep, kLongestStep);
        all_[p].x = std::clamp(here + part * far, all_[p].least(), all_[p].most());
      }
      if (auto done = predict(); !done) return done;
      gain = before.cost(spread_, finer * finer) - cost(spread_, finer * finer);
    }
    if (gain >= kSettledCost) continue;
    *this = before;
    return {};
  }
}

Result<void> RunSearch::descend() { return descend(kFinest); }

// Simulated times bend where another bottleneck takes over, so descents may end in different places. One
// descent ignores outliers at once, the other gradually; the better one counts.
Result<void> RunSearch::descend_twice() {
  RunSearch slow = *this;
  if (auto done = descend(kFinest); !done) return done;
  for (const double finest : {kCoarse, std::sqrt(kCoarse * kFinest), kFinest}) {
    if (auto done = slow.descend(finest); !done) return done;
  }
  if (gain_of(slow, 1.0) > 0) *this = std::move(slow);
  return {};
}

// If kinds are missed, either their runs went wrong or the descents did. So it tries other starts.
Result<void> RunSearch::find() {
  WEIR_CHECK(active_.size() == all_.size());
  if (auto done = descend_twice(); !done) return done;
  if (auto done = find_elsewhere(); !done) return done;
  return find_separately();
}

Result<void> RunSearch::find_elsewhere() {
  const auto is_rate = [](const RunParameter& one) { return one.unit == RunParameter::Unit::kRate; };
  if (std::ranges::none_of(all_, is_rate)) return {};
  for (const double rate : kElsewhere) {
    if (missed_kinds() == 0) return {};
    RunSearch other = *this;
    for (RunParameter& parameter : other.all_) parameter.x = is_rate(parameter) ? rate : 0.0;
    if (auto done = other.predict(); !done) return done;
    if (auto done = other.descend_twice(); !done) return done;
    if (other.missed_kinds() <= missed_kinds() && gain_of(other, 1.0) > 0) *this = std::move(other);
  }
  return {};
}

// Equal stated rates may differ in truth. To separate them, two more kinds of runs must be predicted right
// (any value fits one kind), and runs must be predicted surely better, whatever the prior says.
Result<void> RunSearch::find_separately() {
  for (std::size_t p = 0; p < all_.size();) {
    if (missed_kinds() == 0 || active_.size() + 1 >= kinds()) return {};
    std::set<std::string> groups = all_[p].groups();
    if (groups.size() == 1) groups.clear();
    std::optional<RunSearch> best;
    for (const std::string& group : groups) {
      RunSearch other = *this;
      if (auto done = other.separate(p, group); !done) return done;
      // While links of one path have equal rates, a faster one changes nothing. So it starts slower.
      other.all_.back().x += kSlower;
      if (auto done = other.predict(&other.all_.back()); !done) return done;
      if (auto done = other.descend_twice(); !done) return done;
      if (other.missed_kinds() + kApartKinds > missed_kinds() || gain_of(other, 0.0) <= kApart) continue;
      if (!best || best->gain_of(other, 0.0) > 0) best = std::move(other);
    }
    if (best)
      *this = std::move(*best);
    else
      ++p;
  }
  return {};
}

Result<void> RunSearch::drop(std::size_t parameter) {
  active_.erase(parameter);
  all_[parameter].x = 0;
  return predict(&all_[parameter]);
}

Result<void> RunSearch::separate(std::size_t parameter, const std::string& group) {
  WEIR_CHECK(all_[parameter].groups().size() > 1, parameter);
  all_.push_back(all_[parameter].separate(group));
  const std::size_t last = all_.size() - 1;
  active_.insert(last);
  errors_.push_back(errors_[parameter]);
  beyond_.push_back(beyond_[parameter]);
  for (const std::size_t p : {parameter, last}) {
    if (auto found = find_slopes(p); !found) return found;
  }
  return {};
}

}  // namespace weir
