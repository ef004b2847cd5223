#include "studies/report/effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>

#include "core/base/units_text.h"
#include "studies/report/additive_fit.h"

namespace weir {
namespace {

using Unit = Effect::Unit;

struct Quantity {
  Unit unit = Unit::kNone;
  double number = 0;
};

Quantity quantity_of(const Value& value) {
  if (value.is(Value::Kind::kInteger) || value.is(Value::Kind::kDouble))
    return {Unit::kNumber, value.as_double()};
  if (!value.is(Value::Kind::kString)) return {};
  const std::string& text = value.as_string();
  if (const auto size = parse_size(text)) return {Unit::kSize, static_cast<double>(size->count())};
  if (const auto rate = parse_rate(text); rate && rate->limited())
    return {Unit::kRate, 8 * static_cast<double>(rate->value())};
  if (const auto time = parse_duration(text)) return {Unit::kDuration, static_cast<double>(time->ns())};
  return {};
}

// The unit of all choices; none if they do not share one.
Unit unit_of(const StudyAxis& axis) {
  const Unit first = quantity_of(axis.choices.front()).unit;
  const bool same = std::all_of(axis.choices.begin(), axis.choices.end(),
                                [&](const Value& choice) { return quantity_of(choice).unit == first; });
  return same ? first : Unit::kNone;
}

bool has_row(const Run& run) { return run.outcome && run.outcome->kind == Outcome::Kind::kRow; }

std::size_t position(const std::vector<Value>& choices, const Value& value) {
  return static_cast<std::size_t>(std::find(choices.begin(), choices.end(), value) - choices.begin());
}

// The distinct values of the axis.
std::vector<Value> distinct(const StudyAxis& axis) {
  std::vector<Value> values;
  for (const Value& choice : axis.choices)
    if (position(values, choice) == values.size()) values.push_back(choice);
  return values;
}

bool is_logarithmic(const Study& study, const StudyAxis& axis) {
  if (axis.sampled) {
    const Value* over = study.samples.find("over");
    const Value* range = over == nullptr ? nullptr : over->find(axis.path);
    const Value* scale = range == nullptr ? nullptr : range->find("scale");
    return scale != nullptr && *scale == Value("logarithmic");
  }
  constexpr double kFactor = 20;
  double least = INFINITY;
  double most = 0;
  for (const Value& choice : axis.choices) {
    least = std::min(least, quantity_of(choice).number);
    most = std::max(most, quantity_of(choice).number);
  }
  return least > 0 && most / least > kFactor;
}

// An axis, as used by fits and charts.
class Factor {
 public:
  Factor(const Study& study, const StudyAxis& axis)
      : unit_(unit_of(axis)),
        logarithmic_(unit_ != Unit::kNone && is_logarithmic(study, axis)),
        values_(distinct(axis)),
        sampled_(axis.sampled && unit_ != Unit::kNone) {
    for (const Value& value : values_) {
      least_ = std::min(least_, x(value));
      most_ = std::max(most_, x(value));
    }
  }

  Unit unit() const { return unit_; }
  bool logarithmic() const { return logarithmic_; }
  const std::vector<Value>& values() const { return values_; }

  double x(const Value& value) const {
    return unit_ == Unit::kNone ? static_cast<double>(position(values_, value)) : quantity_of(value).number;
  }

  // For samples a parabola over their range; for lists one number for each value but the first.
  AdditiveFit::Basis basis(const Value& value) const {
    if (sampled_) return parabola(x(value));
    AdditiveFit::Basis basis(values_.size() - 1, 0.0);
    if (const std::size_t at = position(values_, value); at > 0) basis[at - 1] = 1;
    return basis;
  }

  // Where the effect of the axis is evaluated: at each value or along the range.
  struct Place {
    double x;
    std::string label;
    AdditiveFit::Basis basis;
  };
  std::vector<Place> places() const {
    std::vector<Place> all;
    if (!sampled_) {
      for (const Value& value : values_) all.push_back({x(value), label(value), basis(value)});
      std::stable_sort(all.begin(), all.end(), [](const Place& a, const Place& b) { return a.x < b.x; });
      return all;
    }
    constexpr int kPlaces = 24;
    for (int i = 0; i <= kPlaces; ++i) {
      const double part = static_cast<double>(i) / kPlaces;
      const double at =
          logarithmic_ ? least_ * std::pow(most_ / least_, part) : least_ + part * (most_ - least_);
      all.push_back({at, "", parabola(at)});
    }
    return all;
  }

 private:
  AdditiveFit::Basis parabola(double at) const {
    if (least_ == most_) return {0, 0};
    const double part =
        logarithmic_ ? std::log(at / least_) / std::log(most_ / least_) : (at - least_) / (most_ - least_);
    const double t = 2 * part - 1;
    return {t, t * t};
  }

  Unit unit_;
  bool logarithmic_;
  std::vector<Value> values_;
  bool sampled_;
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
};

// The fit of the function's values over the runs, where the function has values.
template <class Number>
std::optional<AdditiveFit> fit_of(const Results& results, const std::vector<Factor>& factors,
                                  const std::vector<std::size_t>& runs, const Number& number) {
  std::vector<std::vector<AdditiveFit::Basis>> bases;
  std::vector<double> values;
  for (const std::size_t run : runs) {
    const std::optional<double> value = number(results.runs()[run].outcome->row);
    if (!value || *value <= 0) continue;
    values.push_back(std::log(*value));
    auto& basis = bases.emplace_back();
    const StudyPoint& point = results.study().points[results.runs()[run].point];
    for (std::size_t a = 0; a < factors.size(); ++a) basis.push_back(factors[a].basis(point.values[a]));
  }
  return AdditiveFit::of(bases, values);
}

}  // namespace

double median(const std::vector<double>& ascending) {
  const std::size_t half = ascending.size() / 2;
  return ascending.size() % 2 == 1 ? ascending[half] : (ascending[half - 1] + ascending[half]) / 2;
}

std::string kind_of_resource(const std::string& name) {
  std::string kind;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    depth += c == '[' ? 1 : 0;
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (depth == 0 && !digit) kind += c;
    depth -= c == ']' ? 1 : 0;
  }
  return kind;
}

std::vector<StrategySummary> summaries(const Results& results) {
  const Study& study = results.study();
  std::vector<StrategySummary> all;
  for (std::size_t trace = 0; trace < study.traces.size(); ++trace)
    for (const std::string& strategy : study.strategies)
      all.push_back({.strategy = strategy, .trace = trace});
  const auto own = [&](const Run& run) -> StrategySummary& {
    const auto at = std::find(study.strategies.begin(), study.strategies.end(), run.trial.strategy);
    return all[study.points[run.point].trace * study.strategies.size() +
               static_cast<std::size_t>(at - study.strategies.begin())];
  };
  std::map<std::pair<std::size_t, std::uint64_t>, std::int64_t> shortest;
  for (const Run& run : results.runs()) {
    if (!has_row(run)) continue;
    const auto [found, added] =
        shortest.try_emplace({run.point, run.trial.seed}, run.outcome->row.iteration_ns);
    if (!added) found->second = std::min(found->second, run.outcome->row.iteration_ns);
  }
  for (std::size_t i = 0; i < results.runs().size(); ++i) {
    const Run& run = results.runs()[i];
    StrategySummary& summary = own(run);
    ++summary.runs;
    if (!run.outcome) continue;
    if (!has_row(run)) {
      ++(run.outcome->kind == Outcome::Kind::kImpossible ? summary.impossible : summary.failed);
      continue;
    }
    const Row& row = run.outcome->row;
    ++summary.rows;
    ++summary.binding[kind_of_resource(row.binding)];
    if (row.speedup) summary.speedups.push_back(*row.speedup);
    if (row.bound_percent) summary.of_bound.push_back(*row.bound_percent);
    if (row.iteration_ns == shortest.at({run.point, run.trial.seed})) ++summary.fastest;
    if (!summary.best || row.samples_per_s > results.runs()[*summary.best].outcome->row.samples_per_s)
      summary.best = i;
  }
  for (StrategySummary& summary : all) {
    std::sort(summary.speedups.begin(), summary.speedups.end());
    std::sort(summary.of_bound.begin(), summary.of_bound.end());
  }
  return all;
}

std::optional<double> EffectLine::ratio() const {
  if (levels.size() < 2) return std::nullopt;
  const auto faster = [](const Level& a, const Level& b) { return a.iteration_s < b.iteration_s; };
  const auto [least, most] = std::minmax_element(levels.begin(), levels.end(), faster);
  return most->iteration_s / least->iteration_s;
}

Effects effects(const Results& results) {
  const Study& study = results.study();
  Effects all;
  std::vector<Factor> factors;
  for (const StudyAxis& axis : study.axes) {
    const Factor& factor = factors.emplace_back(study, axis);
    Effect& effect = all.axes.emplace_back(Effect{axis.path, factor.unit(), {}, factor.logarithmic(), {}});
    if (factor.unit() != Unit::kNone) continue;
    for (const Value& value : factor.values()) effect.categories.push_back(label(value));
  }
  std::map<std::string, std::vector<std::size_t>> runs;
  for (std::size_t i = 0; i < results.runs().size(); ++i)
    if (has_row(results.runs()[i])) runs[results.runs()[i].trial.strategy].push_back(i);
  for (const std::string& strategy : study.strategies) {
    const std::vector<std::size_t>& own = runs[strategy];
    if (own.empty()) continue;
    const auto times = fit_of(results, factors, own, [](const Row& row) -> std::optional<double> {
      return static_cast<double>(row.iteration_ns) * 1e-9;
    });
    const auto speedups = fit_of(results, factors, own, [](const Row& row) { return row.speedup; });
    if (times) all.explained[strategy] = times->explained();
    for (std::size_t a = 0; a < factors.size(); ++a) {
      EffectLine& line = all.axes[a].lines.emplace_back(EffectLine{strategy, {}, {}});
      std::set<double> seen;  // where this strategy ran; its runs say nothing about other values
      for (const std::size_t run : own)
        seen.insert(factors[a].x(study.points[results.runs()[run].point].values[a]));
      for (const Factor::Place& place : factors[a].places()) {
        const bool within = place.label.empty() ? place.x >= *seen.begin() && place.x <= *seen.rbegin()
                                                : seen.contains(place.x);
        if (!times || !within) continue;
        Level level{place.x, place.label, std::exp(times->at(a, place.basis)), {}};
        if (speedups) level.speedup = std::exp(speedups->at(a, place.basis));
        line.levels.push_back(std::move(level));
      }
      if (!study.axes[a].sampled && times) continue;
      for (const std::size_t run : own)
        line.cloud.emplace_back(factors[a].x(study.points[results.runs()[run].point].values[a]), run);
    }
  }
  return all;
}

}  // namespace weir
