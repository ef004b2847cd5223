#include "core/calibrate/run_fit.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/hash.h"
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
constexpr double kSure = 3.0;          // standard errors
constexpr double kTold = 0.05;         // of a rate or fraction
constexpr double kToldOfRun = 0.02;    // of an iteration, by a time
constexpr double kHangs = 0.01;        // of an iteration, by a tenth of a value, or all of a time
constexpr double kCoarse = 0.2;        // a spread with which hardly any run counts as gone wrong
constexpr double kFinest = 5e-3;       // no run repeats more exactly

}  // namespace

Result<RunFitter> RunFitter::make(const Topology& topology, std::vector<RealRun> runs, Values known) {
  RunFitter fitter;
  fitter.topology_ = topology;
  fitter.known_ = std::move(known);
  std::map<std::string, std::size_t> kinds;
  std::map<std::pair<const Experiment*, std::string>, std::string> texts;
  for (const RealRun& run : runs) {
    std::string& text = texts[{run.experiment.get(), run.contender}];
    if (text.empty()) text = hash_of(whole_text(*run.experiment, run.contender)) + run.contender;
    const auto [at, fresh] = kinds.try_emplace(text, fitter.prepared_.size());
    fitter.kind_.push_back(at->second);
    if (!fresh) continue;
    auto prepared = PreparedRun::make(run);
    if (!prepared) return tl::unexpected(prepared.error());
    fitter.prepared_.push_back(std::move(*prepared));
  }
  fitter.runs_ = std::move(runs);
  return fitter;
}

std::set<std::string> RunFitter::used_by(const std::vector<std::size_t>& numbers) const {
  std::set<std::string> used;
  for (const std::size_t number : numbers) {
    for (const auto& [path, sizes] : prepared_[kind_[number]]->uses().values) used.insert(path);
  }
  return used;
}

// What is not told keeps the value that the topology and experiments say.
Values RunFitter::values_of(const Search& search) const {
  Values values = known_;
  for (const std::size_t p : search.active) {
    const RunParameter& parameter = search.all[p];
    for (std::size_t i = 0; i < parameter.paths.size(); ++i) values[parameter.paths[i]] = parameter.value(i);
  }
  return values;
}

Result<double> RunFitter::log_time(std::size_t kind, const Values& values) {
  const auto time = prepared_[kind]->predict(values);
  if (!time) return tl::unexpected(time.error());
  return std::log(std::max(time->seconds(), 1e-9));
}

bool RunFitter::uses(std::size_t kind, const RunParameter& parameter) const {
  const auto& used = prepared_[kind]->uses().values;
  return std::ranges::any_of(parameter.paths, [&](const std::string& path) { return used.contains(path); });
}

Result<void> RunFitter::foretell(Search& search, const RunParameter* changed) {
  const Values values = values_of(search);
  std::set<std::size_t> kinds;
  for (const std::size_t number : search.numbers) kinds.insert(kind_[number]);
  for (const std::size_t kind : kinds) {
    if (changed != nullptr && !uses(kind, *changed)) continue;
    const auto time = log_time(kind, values);
    if (!time) return tl::unexpected(time.error());
    search.times[kind] = *time;
  }
  return {};
}

// Where the search is now: of times themselves, of all others of logarithms.
Result<void> RunFitter::find_slopes(Search& search) {
  const std::map<std::size_t, double> before = search.times;
  search.effect.assign(search.all.size(), 0.0);
  search.slopes.clear();
  for (const auto& [kind, time] : before) search.slopes[kind].assign(search.all.size(), 0.0);
  for (const std::size_t p : search.active) {
    RunParameter& parameter = search.all[p];
    const double here = parameter.x;
    const double step = parameter.step();
    parameter.x = parameter.stepped();
    if (auto foretold = foretell(search, &parameter); !foretold) return foretold;
    parameter.x = here;
    for (const auto& [kind, after] : search.times) {
      const double slope = (after - before.at(kind)) / step;
      search.slopes[kind][p] = slope;
      search.effect[p] = std::max(search.effect[p], std::abs(slope));
    }
    search.times = before;
  }
  return {};
}

// Of the active parameters: the logarithms of times, which are about as exact as each other.
LeastSquares RunFitter::problem(const Search& search, double finest) const {
  LeastSquares problem;
  const auto columns = std::ssize(search.active);
  problem.a.resize(std::ssize(search.numbers), columns);
  problem.b = residuals(search);
  problem.prior_a = MatrixXd::Zero(columns, columns);
  problem.prior_b = VectorXd::Zero(columns);
  for (Eigen::Index row = 0; row < std::ssize(search.numbers); ++row) {
    const std::size_t number = search.numbers[static_cast<std::size_t>(row)];
    const std::vector<double>& slopes = search.slopes.at(kind_[number]);
    Eigen::Index column = 0;
    for (const std::size_t p : search.active) {
      const RunParameter& parameter = search.all[p];
      problem.a(row, column) =
          slopes[p] * (parameter.unit == RunParameter::Unit::kTime ? parameter.now() : 1.0);
      problem.b[row] += problem.a(row, column) * parameter.x;
      ++column;
    }
  }
  Eigen::Index column = 0;
  for (const std::size_t p : search.active) {
    problem.prior_a(column, column) = 1 / search.all[p].prior();
    ++column;
  }
  problem.finest = finest;
  return problem;
}

// By how much the runs miss what is predicted now, as logarithms.
VectorXd RunFitter::residuals(const Search& search) const {
  VectorXd residuals(std::ssize(search.numbers));
  for (Eigen::Index row = 0; row < residuals.size(); ++row) {
    const std::size_t number = search.numbers[static_cast<std::size_t>(row)];
    residuals[row] = std::log(runs_[number].iteration.seconds()) - search.times.at(kind_[number]);
  }
  return residuals;
}

// How badly the search does now, if runs have this spread: what goes wrong counts alike, however wrong it is.
// What is believed beforehand has its part of it.
double RunFitter::cost(const Search& search, double spread, double of_prior) const {
  double cost = 0;
  for (const double residual : residuals(search)) cost += robust_loss(residual / spread);
  for (const std::size_t p : search.active)
    cost += of_prior * 0.5 * std::pow(search.all[p].x / search.all[p].prior(), 2);
  return cost;
}

// Where the tangents at this place say that the least is; within the ranges of all parameters.
LeastSquaresFit RunFitter::tangential(const Search& search, double finest) const {
  LeastSquares linear = problem(search, finest);
  LeastSquaresFit fit = robust_fit(linear);
  bool beyond = false;
  Eigen::Index column = 0;
  for (const std::size_t p : search.active) {
    if (const double end = search.all[p].most(); fit.x[column] > end) {
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

// From where the search is: steps of Gauss and Newton, each as long as it helps. Errors are of where it ends.
Result<void> RunFitter::descend(Search& search, double finest) {
  for (int round = 0;; ++round) {
    if (auto found = find_slopes(search); !found) return found;
    const LeastSquaresFit solved = tangential(search, finest);
    // No finer than what runs miss now: else all would count as gone wrong, and no step would help.
    const double spread =
        std::max(solved.spread, spread_of(residuals(search), std::ssize(search.active), finest));
    search.spread = spread;
    const double finer = solved.spread / spread;
    Eigen::Index column = 0;
    for (const std::size_t p : search.active) search.errors[p] = solved.standard_errors[column++] / finer;
    if (round == kRounds) return {};
    const Search before = search;
    double gain = 0;
    for (double part = 1; part >= kShortestPart && gain < kSettledCost; part /= 2) {
      column = 0;
      for (const std::size_t p : search.active) {
        const double here = before.all[p].x;
        const double far = std::clamp(solved.x[column++] - here, -kLongestStep, kLongestStep);
        search.all[p].x = std::min(here + part * far, search.all[p].most());
      }
      if (auto foretold = foretell(search); !foretold) return foretold;
      gain = cost(before, spread, finer * finer) - cost(search, spread, finer * finer);
    }
    if (gain >= kSettledCost) continue;
    search = before;
    return {};
  }
}

// Simulated times bend where something else begins to bind, so that descents may end apart: the better of one
// that forgets what is far off at once, and of one that comes to it by and by.
Result<void> RunFitter::begin(Search& search) {
  Search slow = search;
  if (auto done = descend(search, kFinest); !done) return done;
  for (const double finest : {kCoarse, std::sqrt(kCoarse * kFinest), kFinest}) {
    if (auto done = descend(slow, finest); !done) return done;
  }
  const double spread = std::min(search.spread, slow.spread);
  if (cost(slow, spread, 1.0) < cost(search, spread, 1.0)) search = std::move(slow);
  return {};
}

// How far from told it is: 1 is the limit. What surely is another value than the topology says stays: all
// others would bend to make up for it.
double RunFitter::doubt(const Search& search, std::size_t p) {
  const RunParameter& parameter = search.all[p];
  const double error = search.errors[p];
  double doubt = error / kTold;
  double shift = std::abs(parameter.x);
  if (parameter.unit == RunParameter::Unit::kTime) {
    const double now = parameter.now();
    doubt = error * std::max(now / std::max(now, parameter.stated), now * search.effect[p] / kToldOfRun);
    shift = std::abs(now - parameter.stated) / now;
  }
  return shift > kSure * error ? std::min(doubt, 1.0) : doubt;
}

// Whether most of the runs whose times hang by it are foretold wrong: then it is the others that tell it.
bool RunFitter::mostly_missed(const Search& search, std::size_t p) const {
  const RunParameter& parameter = search.all[p];
  const double tenth = parameter.unit == RunParameter::Unit::kTime ? parameter.now() : 0.1;
  const VectorXd missed = residuals(search);
  std::size_t hang = 0;
  std::size_t wrong = 0;
  for (Eigen::Index row = 0; row < missed.size(); ++row) {
    const std::size_t number = search.numbers[static_cast<std::size_t>(row)];
    if (std::abs(search.slopes.at(kind_[number])[p]) * tenth < kHangs) continue;
    ++hang;
    if (std::abs(missed[row]) > kWrongPercent / 100) ++wrong;
  }
  return 2 * wrong > hang;
}

// The value that is least told, if any is not.
std::optional<std::size_t> RunFitter::untold(const Search& search) const {
  const auto worst =
      *std::max_element(search.active.begin(), search.active.end(),
                        [&](std::size_t p, std::size_t q) { return doubt(search, p) < doubt(search, q); });
  const bool told = doubt(search, worst) <= 1 && search.active.size() < search.times.size();
  return told ? std::nullopt : std::optional(worst);
}

// What is not told would take its neighbours with it: it goes back to where it began, the most doubtful
// first, and all others are fitted without it. As many values as kinds of runs would fit anything.
Result<RunFit> RunFitter::fit(const std::vector<std::size_t>& numbers) {
  Search search;
  search.numbers = numbers;
  search.all = run_parameters(topology_, used_by(numbers), known_);
  search.errors.assign(search.all.size(), 0.0);
  for (std::size_t p = 0; p < search.all.size(); ++p) search.active.insert(p);
  if (const auto foretold = foretell(search); !foretold) return tl::unexpected(foretold.error());
  for (bool first = true; !search.active.empty(); first = false) {
    if (const auto done = first ? begin(search) : descend(search, kFinest); !done)
      return tl::unexpected(done.error());
    std::optional<std::size_t> dropped;
    if (const auto missed =
            std::ranges::find_if(search.active, [&](std::size_t p) { return mostly_missed(search, p); });
        missed != search.active.end()) {
      dropped = *missed;
      search.missed.insert(*missed);
    } else {
      dropped = untold(search);
    }
    if (!dropped) break;
    search.active.erase(*dropped);
    search.all[*dropped].x = 0;
    if (const auto foretold = foretell(search, &search.all[*dropped]); !foretold)
      return tl::unexpected(foretold.error());
  }
  return told(search);
}

RunFit RunFitter::told(const Search& search) const {
  std::vector<Predicted> own;
  for (const std::size_t number : search.numbers)
    own.push_back({std::exp(search.times.at(kind_[number])), runs_[number].iteration.seconds()});
  const double residual = misses_of(own).median;
  const Values values = values_of(search);
  RunFit fit;
  std::set<std::string> seen;
  for (std::size_t p = 0; p < search.all.size(); ++p) {
    const RunParameter& parameter = search.all[p];
    for (std::size_t i = 0; i < parameter.paths.size(); ++i) {
      seen.insert(parameter.paths[i]);
      if (!search.active.contains(p)) {
        fit.untold.push_back(parameter.paths[i]);
        if (search.missed.contains(p)) fit.missed.push_back(parameter.paths[i]);
        continue;
      }
      CalibratedValue value = value_of(parameter, i, search.numbers);
      value.value = values.at(parameter.paths[i]);
      value.standard_error_percent = 100 * search.errors[p];
      value.residual_percent = residual;
      fit.values.push_back(std::move(value));
    }
  }
  for (const std::size_t number : search.numbers) {
    for (const auto& [path, sizes] : prepared_[kind_[number]]->uses().values) {
      if (!known_.contains(path) && seen.insert(path).second) fit.untold.push_back(path);
    }
  }
  return fit;
}

// What its runs measured of it.
CalibratedValue RunFitter::value_of(const RunParameter& parameter, std::size_t path,
                                    const std::vector<std::size_t>& numbers) const {
  CalibratedValue value;
  value.path = parameter.paths[path];
  std::set<std::string> sources;
  std::optional<Sizes> sizes;
  int machines = 0;
  int racks = 0;
  for (const std::size_t number : numbers) {
    const Uses& uses = prepared_[kind_[number]]->uses();
    const auto used = uses.values.find(value.path);
    if (used == uses.values.end()) continue;
    ++value.points;
    sources.insert(runs_[number].source);
    if (sizes) sizes->take(used->second);
    if (!sizes) sizes = used->second;
    machines = std::max(machines, uses.machines);
    racks = std::max(racks, uses.racks);
  }
  value.sources = {sources.begin(), sources.end()};
  value.least_size = sizes->least;
  value.most_size = sizes->most;
  value.machines = machines;
  if (racks > 0) value.racks = racks;
  return value;
}

Result<std::vector<Predicted>> RunFitter::predict(const std::vector<std::size_t>& numbers,
                                                  const Values& values) {
  Values all = known_;
  for (const auto& [path, value] : values) all[path] = value;
  std::map<std::size_t, double> times;
  std::vector<Predicted> predicted;
  for (const std::size_t number : numbers) {
    const auto [at, fresh] = times.try_emplace(kind_[number], 0.0);
    if (fresh) {
      const auto time = log_time(kind_[number], all);
      if (!time) return tl::unexpected(time.error());
      at->second = std::exp(*time);
    }
    predicted.push_back({at->second, runs_[number].iteration.seconds()});
  }
  return predicted;
}

}  // namespace weir
