#include "core/calibrate/run_fit.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/units_text.h"

namespace weir {
namespace {

constexpr double kSure = 3.0;        // standard errors
constexpr double kTold = 0.05;       // of a rate or fraction
constexpr double kToldOfRun = 0.02;  // of an iteration, by a time
constexpr double kHangs = 0.01;      // of an iteration, by a tenth of a value, or all of a time

// How far from told it is: 1 is the limit. What surely is another value than what stood there stays: all
// others would bend to make up for it.
double doubt(const RunSearch& search, std::size_t p) {
  const RunParameter& parameter = search.parameters()[p];
  const double error = search.error(p);
  double doubt = error / kTold;
  double shift = std::abs(parameter.x);
  if (parameter.unit == RunParameter::Unit::kTime) {
    const double now = parameter.now();
    doubt = error * std::max(now / std::max(now, parameter.stated), now * search.steepest(p) / kToldOfRun);
    shift = std::abs(now - parameter.stated) / now;
  }
  return shift > kSure * error ? std::min(doubt, 1.0) : doubt;
}

// The value that is least told, if any is not.
std::optional<std::size_t> untold(const RunSearch& search) {
  const std::set<std::size_t>& active = search.active();
  const auto worst = *std::max_element(active.begin(), active.end(), [&](std::size_t p, std::size_t q) {
    return doubt(search, p) < doubt(search, q);
  });
  const bool told = doubt(search, worst) <= 1 && active.size() < search.kinds();
  return told ? std::nullopt : std::optional(worst);
}

// What the experiments of the runs say of values that belong to experiments: the middle one.
Values stated_by(const std::vector<RealRun>& runs) {
  Duration overhead = Model{}.message_overhead;
  double efficiency = Options{}.allreduce_efficiency;
  if (!runs.empty()) {
    std::vector<Duration> overheads;
    std::vector<double> efficiencies;
    for (const RealRun& run : runs) {
      overheads.push_back(run.experiment->model.message_overhead);
      efficiencies.push_back(contender(*run.experiment, run.contender)->options.allreduce_efficiency);
    }
    std::ranges::sort(overheads);
    std::ranges::sort(efficiencies);
    overhead = overheads[runs.size() / 2];
    efficiency = efficiencies[runs.size() / 2];
  }
  return {{std::string(kMessageOverhead), Value(text(overhead))},
          {std::string(kAllreduceEfficiency), Value(efficiency)}};
}

}  // namespace

Result<RunFitter> RunFitter::make(const Topology& topology, std::vector<RealRun> runs, Values known) {
  auto prepared = PreparedRuns::make(std::move(runs), std::move(known));
  if (!prepared) return tl::unexpected(prepared.error());
  RunFitter fitter;
  fitter.topology_ = topology;
  fitter.runs_ = std::move(*prepared);
  fitter.stated_ = stated_by(fitter.runs_.runs);
  return fitter;
}

// Whether most of the runs that use the group's values, and whose times hang by them, are foretold wrong:
// then it is the others that tell them.
bool RunFitter::mostly_missed(const RunSearch& search, std::size_t p, const std::string& group) const {
  const RunParameter& parameter = search.parameters()[p];
  const double tenth = parameter.unit == RunParameter::Unit::kTime ? parameter.now() : 0.1;
  const Eigen::VectorXd missed = search.residuals();
  std::size_t hang = 0;
  std::size_t wrong = 0;
  for (Eigen::Index row = 0; row < missed.size(); ++row) {
    const std::size_t number = search.numbers()[static_cast<std::size_t>(row)];
    const auto& used = runs_.uses(number).values;
    const bool uses = std::ranges::any_of(parameter.paths, [&](const std::string& path) {
      return RunParameter::group(path) == group && used.contains(path);
    });
    if (!uses || std::abs(search.slope(number, p)) * tenth < kHangs) continue;
    ++hang;
    if (std::abs(missed[row]) > kWrongPercent / 100) ++wrong;
  }
  return 2 * wrong > hang;
}

// One of which that is so, by itself, if there is any.
std::optional<std::size_t> RunFitter::split_missed(RunSearch& search) const {
  for (const std::size_t p : search.active()) {
    const std::set<std::string> groups = search.parameters()[p].groups();
    const auto missed = std::ranges::find_if(
        groups, [&](const std::string& group) { return mostly_missed(search, p, group); });
    if (missed == groups.end()) continue;
    if (groups.size() == 1) return p;
    search.split(p, *missed);
    return search.parameters().size() - 1;
  }
  return std::nullopt;
}

// What is not told would take its neighbours with it: it goes back to where it began, the most doubtful
// first, and all others are fitted without it. As many values as kinds of runs would fit anything.
Result<RunFit> RunFitter::fit(const std::vector<std::size_t>& numbers) const {
  std::set<std::string> used;
  for (const std::size_t number : numbers) {
    for (const auto& [path, sizes] : runs_.uses(number).values) used.insert(path);
  }
  auto search = RunSearch::make(runs_, numbers, run_parameters(topology_, used, stated_, runs_.known));
  if (!search) return tl::unexpected(search.error());
  std::set<std::size_t> missed;
  for (bool first = true; !search->active().empty(); first = false) {
    if (const auto done = first ? search->begin() : search->descend(); !done)
      return tl::unexpected(done.error());
    std::optional<std::size_t> dropped = split_missed(*search);
    if (dropped) missed.insert(*dropped);
    if (!dropped) dropped = untold(*search);
    if (!dropped) break;
    if (const auto done = search->drop(*dropped); !done) return tl::unexpected(done.error());
  }
  return told(*search, missed);
}

RunFit RunFitter::told(const RunSearch& search, const std::set<std::size_t>& missed) const {
  std::vector<Predicted> own;
  for (const std::size_t number : search.numbers())
    own.push_back({std::exp(search.log_time(number)), runs_.runs[number].iteration.seconds()});
  const double residual = misses_of(own).median;
  const Values values = search.values();
  RunFit fit;
  std::set<std::string> untold;
  std::set<std::string> wrong;
  for (const std::size_t number : search.numbers()) {
    for (const auto& [path, sizes] : runs_.uses(number).values) {
      if (!runs_.known.contains(path)) untold.insert(path);
    }
  }
  for (std::size_t p = 0; p < search.parameters().size(); ++p) {
    const RunParameter& parameter = search.parameters()[p];
    for (std::size_t i = 0; i < parameter.paths.size(); ++i) {
      const std::string& path = parameter.paths[i];
      if (!search.active().contains(p)) {
        untold.insert(path);
        if (missed.contains(p)) wrong.insert(path);
        continue;
      }
      untold.erase(path);
      CalibratedValue value = value_of(path, search.numbers());
      value.value = values.at(path);
      value.standard_error_percent = 100 * search.error(p);
      value.residual_percent = residual;
      fit.values.push_back(std::move(value));
    }
  }
  fit.untold = {untold.begin(), untold.end()};
  fit.missed = {wrong.begin(), wrong.end()};
  return fit;
}

// What its runs measured of it.
CalibratedValue RunFitter::value_of(const std::string& path, const std::vector<std::size_t>& numbers) const {
  CalibratedValue value;
  value.path = path;
  std::set<std::string> sources;
  std::optional<Sizes> sizes;
  int machines = 0;
  int racks = 0;
  for (const std::size_t number : numbers) {
    const Uses& uses = runs_.uses(number);
    const auto used = uses.values.find(path);
    if (used == uses.values.end()) continue;
    ++value.points;
    sources.insert(runs_.runs[number].source);
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
                                                  const Values& values) const {
  Values all = runs_.known;
  for (const auto& [path, value] : values) all[path] = value;
  std::map<std::size_t, double> times;
  std::vector<Predicted> predicted;
  for (const std::size_t number : numbers) {
    const auto [at, fresh] = times.try_emplace(runs_.kind[number], 0.0);
    if (fresh) {
      const auto time = runs_.log_time(runs_.kind[number], all);
      if (!time) return tl::unexpected(time.error());
      at->second = std::exp(*time);
    }
    predicted.push_back({at->second, runs_.runs[number].iteration.seconds()});
  }
  return predicted;
}

}  // namespace weir
