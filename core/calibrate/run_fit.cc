#include "core/calibrate/run_fit.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/units_text.h"

namespace weir {
namespace {

constexpr double kSure = 3.0;              // standard errors
constexpr double kNotable = 0.01;          // of a rate or fraction
constexpr double kDetermined = 0.05;       // of a rate or fraction
constexpr double kDeterminedOfRun = 0.02;  // of an iteration, by a time
constexpr double kDepends = 0.01;  // of an iteration, for a change of a value by a tenth, or of a whole time

// How doubtful a value is; at most 1 counts as determined. A value that surely differs from the stated one
// stays, since without it all others would be bent to make up for it.
double doubt(const RunSearch& search, std::size_t p) {
  const RunParameter& parameter = search.parameters()[p];
  const double error = search.error(p);
  double doubt = error / kDetermined;
  double shift = std::abs(parameter.x);
  if (parameter.unit == RunParameter::Unit::kTime) {
    const double now = parameter.now();
    doubt =
        error * std::max(now / std::max(now, parameter.stated), now * search.steepest(p) / kDeterminedOfRun);
    shift = std::abs(now - parameter.stated) / now;
  }
  return shift > kSure * error ? std::min(doubt, 1.0) : doubt;
}

// Whether the value is at the end of its range, and surely would not stop there.
bool beyond(const RunSearch& search, std::size_t p) {
  return std::abs(search.beyond(p)) > std::max(kNotable, kSure * search.error(p));
}

// The most doubtful value, if any is not determined.
std::optional<std::size_t> undetermined(const RunSearch& search) {
  const std::set<std::size_t>& active = search.active();
  const auto worst = *std::max_element(active.begin(), active.end(), [&](std::size_t p, std::size_t q) {
    return doubt(search, p) < doubt(search, q);
  });
  const bool determined = doubt(search, worst) <= 1 && active.size() < search.kinds();
  return determined ? std::nullopt : std::optional(worst);
}

// The median, or `other` if there are none.
template <class T>
T middle(std::vector<T> all, T other) {
  if (all.empty()) return other;
  std::ranges::sort(all);
  return all[all.size() / 2];
}

// The experiments' own values, as the median over the kinds of runs that use them.
Values stated_by(const PreparedRuns& runs) {
  std::vector<Duration> overheads;
  std::vector<double> efficiencies;
  std::set<std::size_t> seen;
  for (std::size_t i = 0; i < runs.runs.size(); ++i) {
    if (!seen.insert(runs.kind[i]).second) continue;
    const RealRun& run = runs.runs[i];
    const auto& used = runs.uses(i).values;
    if (used.contains(std::string(kMessageOverhead)))
      overheads.push_back(run.experiment->model.message_overhead);
    if (used.contains(std::string(kAllreduceEfficiency)))
      efficiencies.push_back(contender(*run.experiment, run.contender)->options.allreduce_efficiency);
  }
  return {{std::string(kMessageOverhead), Value(text(middle(overheads, Model{}.message_overhead)))},
          {std::string(kAllreduceEfficiency), Value(middle(efficiencies, Options{}.allreduce_efficiency))}};
}

// Whether most of the runs that depend on it are predicted wrong, so that the value rests on the others
// alone.
bool mostly_missed(const RunSearch& search, std::size_t p) {
  const RunParameter& parameter = search.parameters()[p];
  const double tenth = parameter.unit == RunParameter::Unit::kTime ? parameter.now() : 0.1;
  std::size_t depend = 0;
  std::size_t wrong = 0;
  for (const std::size_t number : search.numbers()) {
    if (std::abs(search.slope(number, p)) * tenth < kDepends) continue;
    ++depend;
    if (search.predicted(number).wrong()) ++wrong;
  }
  return 2 * wrong > depend;
}

// The first parameter for which that holds. If it holds for some groups of a parameter only, separates one of
// them first.
Result<std::optional<std::size_t>> separate_missed(RunSearch& search) {
  const auto wrong = [&](std::size_t number) { return search.predicted(number).wrong(); };
  if (std::ranges::none_of(search.numbers(), wrong)) return std::nullopt;
  for (const std::size_t p : search.active()) {
    const std::set<std::string> groups = search.parameters()[p].groups();
    if (groups.size() == 1) {
      if (mostly_missed(search, p)) return p;
      continue;
    }
    std::optional<RunSearch> apart;
    std::size_t missed = 0;
    for (const std::string& group : groups) {
      RunSearch other = search;
      if (auto done = other.separate(p, group); !done) return tl::unexpected(done.error());
      if (!mostly_missed(other, other.parameters().size() - 1)) continue;
      ++missed;
      if (!apart) apart = std::move(other);
    }
    if (missed == groups.size() || (missed == 0 && mostly_missed(search, p))) return p;
    if (missed == 0) continue;
    search = std::move(*apart);
    return search.parameters().size() - 1;
  }
  return std::nullopt;
}

}  // namespace

Result<RunFitter> RunFitter::make(const Topology& topology, std::vector<RealRun> runs, Values known) {
  auto prepared = PreparedRuns::make(std::move(runs), std::move(known));
  if (!prepared) return tl::unexpected(prepared.error());
  RunFitter fitter;
  fitter.topology_ = topology;
  fitter.runs_ = std::move(*prepared);
  fitter.stated_ = stated_by(fitter.runs_);
  return fitter;
}

std::set<std::string> RunFitter::used_by(const std::vector<std::size_t>& numbers) const {
  std::set<std::string> used;
  for (const std::size_t number : numbers) {
    for (const auto& [path, sizes] : runs_.uses(number).values) used.insert(path);
  }
  return used;
}

// A value that is not determined would distort the others. So the most doubtful goes back to its start, and
// the others are fitted without it, until all are determined. As many values as kinds of runs would fit
// anything.
Result<RunFit> RunFitter::fit(const std::vector<std::size_t>& numbers) const {
  auto search =
      RunSearch::make(runs_, numbers, run_parameters(topology_, used_by(numbers), stated_, runs_.known));
  if (!search) return tl::unexpected(search.error());
  const std::size_t parameters = search->parameters().size();
  std::set<std::size_t> missed;
  for (bool first = true; !search->active().empty(); first = false) {
    if (const auto done = first ? search->find() : search->descend(); !done)
      return tl::unexpected(done.error());
    auto dropped = separate_missed(*search);
    if (!dropped) return tl::unexpected(dropped.error());
    if (*dropped) missed.insert(**dropped);
    if (!*dropped) *dropped = undetermined(*search);
    if (!*dropped) break;
    if (const auto done = search->drop(**dropped); !done) return tl::unexpected(done.error());
  }
  RunFit fit = determined(*search, missed);
  fit.kinds = search->kinds();
  fit.parameters = parameters;
  return fit;
}

RunFit RunFitter::determined(const RunSearch& search, const std::set<std::size_t>& missed) const {
  std::vector<Predicted> own;
  for (const std::size_t number : search.numbers()) own.push_back(search.predicted(number));
  const double residual = misses_of(own).median;
  const Values values = search.values();
  RunFit fit;
  std::set<std::string> undetermined = used_by(search.numbers());
  std::erase_if(undetermined, [&](const std::string& path) { return runs_.known.contains(path); });
  std::set<std::string> wrong;
  for (std::size_t p = 0; p < search.parameters().size(); ++p) {
    const RunParameter& parameter = search.parameters()[p];
    for (std::size_t i = 0; i < parameter.paths.size(); ++i) {
      const std::string& path = parameter.paths[i];
      if (!search.active().contains(p)) {
        undetermined.insert(path);
        if (missed.contains(p)) wrong.insert(path);
        continue;
      }
      undetermined.erase(path);
      if (beyond(search, p)) fit.beyond.push_back(path);
      CalibratedValue value = value_of(path, search.numbers());
      value.value = values.at(path);
      value.standard_error_percent = 100 * search.error(p);
      value.residual_percent = residual;
      fit.values.push_back(std::move(value));
    }
  }
  fit.undetermined = {undetermined.begin(), undetermined.end()};
  fit.missed = {wrong.begin(), wrong.end()};
  return fit;
}

// How the fitted runs measured the value.
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
      const auto time = runs_.log_time_of_kind(runs_.kind[number], all);
      if (!time) return tl::unexpected(time.error());
      at->second = std::exp(*time);
    }
    predicted.push_back({at->second, runs_.runs[number].iteration.seconds()});
  }
  return predicted;
}

}  // namespace weir
