#include "core/calibrate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/base/random.h"
#include "core/calibrate/other_cluster.h"
#include "core/calibrate/point_fit.h"
#include "core/calibrate/run_fit.h"
#include "core/experiment/settings.h"

namespace weir {
namespace {

constexpr double kWorstMedian = 50;  // percent, of the fitted runs

// Draws which of `count` are held out, at most a part of them.
std::vector<bool> held_out(std::size_t count, const HoldOut& hold_out, std::uint64_t what) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random = Random(hold_out.seed).split(what);
  for (std::size_t i = count; i > 1; --i)
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i) - 1))]);
  const auto part = static_cast<std::size_t>(hold_out.fraction * static_cast<double>(count));
  std::vector<bool> held(count);
  for (std::size_t i = 0; i < part; ++i) held[order[i]] = true;
  return held;
}

// Kinds, numbered from 0. Points of one kind measure the same thing, such as out of place and in place. A
// prediction of one from the other would prove nothing.
std::vector<std::size_t> kinds_of(const std::vector<Point>& points) {
  std::map<Point, std::size_t> numbers;
  std::vector<std::size_t> kinds;
  for (Point point : points) {
    point.source.clear();
    point.seconds = 0;
    kinds.push_back(numbers.try_emplace(point, numbers.size()).first->second);
  }
  return kinds;
}

// The present value of the path, in the topology or in the runs' experiments.
std::string was(const Value& written, const Values& stated, const std::string& path) {
  if (of_experiment(path)) return label(stated.at(path));
  const Value* here = value_at(written, path);
  if (here == nullptr)
    here = value_at(written, path.substr(0, path.rfind('.')));  // one for all element types
  return here == nullptr ? "" : label(*here);
}

Result<Topology> with_calibration(const Topology& topology, const std::vector<CalibratedValue>& values,
                                  std::vector<std::string>& remarks) {
  Topology made = topology;
  for (const CalibratedValue& value : values) {
    if (of_experiment(value.path)) continue;
    auto next = with_value(made, value.path, value.value);
    if (!next) return failure(value.path + ": the fitted value is not valid there: " + next.error().text);
    made = std::move(*next);
  }
  Calibration all;
  for (const GroupSpec& group : topology.groups) all.shapes[group.name] = shape(group);
  all.shapes["network"] = shape(topology.network);
  all.values = values;
  if (topology.calibration) {
    for (CalibratedValue& value : all.values) {
      for (const CalibratedValue& old : topology.calibration->values) {
        if (old.path == value.path && label(old.value) == value.was)
          value.was = old.was;  // the value before all calibrations
      }
    }
    const bool same = topology.calibration->shapes == all.shapes;
    if (!same) remarks.emplace_back("the earlier calibration is of other machines and was left out");
    for (const CalibratedValue& old : topology.calibration->values) {
      const bool again = std::any_of(values.begin(), values.end(),
                                     [&](const CalibratedValue& value) { return value.path == old.path; });
      if (same && !again) all.values.push_back(old);
    }
  }
  made.calibration = std::move(all);
  return made;
}

/// A calibration under way. It fits benchmarks first, because fits of runs start at their values.
class Calibrator {
 public:
  Calibrator(const Topology& topology, const Measurements& measurements, const HoldOut& hold_out)
      : topology_(topology), measurements_(measurements), hold_out_(hold_out) {}

  Result<void> fit_points() {
    const std::vector<std::size_t> kinds = kinds_of(measurements_.points);
    Split split = split_of(kinds, 1, "sizes that benchmarks measured");
    fit_each_line(kinds, split);
    const auto points = [&](const std::vector<std::size_t>& numbers) {
      std::vector<Point> some;
      for (const std::size_t number : numbers) some.push_back(measurements_.points[number]);
      return some;
    };
    fitted_points_ = points(split.fitted);
    held_points_ = points(split.held);
    auto fit = PointFit::fit(topology_, fitted_points_);
    if (!fit) return tl::unexpected(fit.error());
    point_fit_ = std::move(*fit);
    std::erase_if(fitted_points_, [&](const Point& point) { return !point_fit_.judged(point); });
    const std::vector<std::string>& remarks = point_fit_.remarks();
    all_.remarks.insert(all_.remarks.end(), remarks.begin(), remarks.end());
    for (const CalibratedValue& value : point_fit_.values()) values_[value.path] = value;
    return {};
  }

  Result<void> fit_runs() {
    auto fitter = RunFitter::make(topology_, measurements_.runs, determined());
    if (!fitter) return tl::unexpected(fitter.error());
    stated_ = fitter->stated();
    const auto [fitted, held] = split_of(fitter->kinds(), 2, "kinds of runs");
    bool any = false;
    if (!fitted.empty()) {
      const auto fit = fitter->fit(fitted);
      if (!fit) return tl::unexpected(fit.error());
      any = !fit->values.empty();
      kinds_ = fit->kinds;
      parameters_ = fit->parameters;
      any_missed_ = !fit->missed.empty();
      for (const CalibratedValue& value : fit->values) {
        values_[value.path] = value;
        of_runs_.insert(value.path);
      }
      for (const std::string& path : fit->beyond)
        all_.remarks.push_back(
            path +
            ": the runs fit best with a value beyond what can be written; the nearest one is "
            "written, and errors are those of that one");
      for (const std::string& path : fit->undetermined) {
        if (!values_.contains(path)) all_.undetermined.push_back(path);
      }
      for (const std::string& path : fit->missed)
        all_.remarks.push_back(
            path + ": most of the runs that could determine it are predicted wrong, so it stays as it was");
    }
    if (auto done = predict(*fitter, fitted, false); !done) return done;
    if (any && all_.runs.fitted.median > kWorstMedian) return failure(mostly_wrong());
    remark_wrong_runs();
    return predict(*fitter, held, true);
  }

  Result<Calibrated> finish() {
    if (values_.empty()) {
      std::string why = "no measurement fits a value of the topology";
      if (!measurements_.runs.empty()) why += "; " + why_runs_determine_nothing();
      for (const std::string& remark : all_.remarks) why += "; " + remark;
      if (all_.runs.fitted.median > kWorstMedian) why += "; " + mostly_wrong();
      return failure(std::move(why));
    }
    // All errors are those of the values that are written: runs may have replaced values of benchmarks.
    const Values final = determined();
    all_.points = {misses_of(point_fit_.predict(fitted_points_, final)),
                   misses_of(point_fit_.predict(held_points_, final))};
    const Value written = written_values(topology_);
    for (auto& [path, value] : values_) {
      if (!of_runs_.contains(path)) value.residual_percent = point_fit_.residual_percent(path, final);
      if (!value.determined())
        all_.remarks.push_back(
            fmt::format("{}: these measurements do not determine it: its standard error is {:.0f} %", path,
                        *value.standard_error_percent));
      value.was = was(written, stated_, path);
      if (auto why = doubt(value)) all_.remarks.push_back(std::move(*why));
      all_.values.push_back(value);
    }
    auto made = with_calibration(topology_, all_.values, all_.remarks);
    if (!made) return tl::unexpected(made.error());
    all_.topology = std::move(*made);
    return std::move(all_);
  }

 private:
  struct Split {
    std::vector<std::size_t> fitted;
    std::vector<std::size_t> held;
  };

  std::string why_runs_determine_nothing() const {
    std::string why = fmt::format(
        "{} none of the {} values searched for",
        kinds_ == 1 ? "one kind of runs determines" : fmt::format("{} kinds of runs determine", kinds_),
        parameters_);
    if (kinds_ <= parameters_) {
      why += ": more kinds of runs are needed than values";
    } else if (!any_missed_) {
      why += " well enough: add runs whose times depend on them more";
    }
    return why;
  }

  std::string mostly_wrong() const {
    return fmt::format(
        "half of the runs are predicted more than {:.0f} % wrong: they are of "
        "another cluster, or simulation lacks something that decides their times",
        std::floor(all_.runs.fitted.median));
  }

  void remark_wrong_runs() {
    struct Count {
      std::size_t wrong = 0;
      std::size_t all = 0;
      double worst = 0;
    };
    std::map<std::string, Count> strategies;
    for (const PredictedRun& one : all_.predicted) {
      Count& count = strategies[one.run.contender];
      ++count.all;
      if (one.both().wrong()) ++count.wrong;
      count.worst = std::max(count.worst, std::abs(one.percent()));
    }
    for (const auto& [name, count] : strategies) {
      if (count.wrong == 0) continue;
      all_.remarks.push_back(
          fmt::format("{} of the {} runs by {} are predicted more than {:.0f} % wrong, up to "
                      "{:.1f} %: they went wrong, or simulation lacks something that decides their "
                      "times",
                      count.wrong, count.all, name, kWrongPercent, count.worst));
    }
  }

  // Splits measurements by the numbers of their kinds: those of one kind are on the same side.
  Split split_of(const std::vector<std::size_t>& kinds, std::uint64_t random, std::string_view what) {
    const std::size_t count = kinds.empty() ? 0 : *std::max_element(kinds.begin(), kinds.end()) + 1;
    const std::vector<bool> out = held_out(count, hold_out_, random);
    Split split;
    for (std::size_t i = 0; i < kinds.size(); ++i) (out[kinds[i]] ? split.held : split.fitted).push_back(i);
    if (count > 0 && hold_out_.fraction > 0 && split.held.empty())
      all_.remarks.push_back(
          fmt::format("a fraction of {} of {} {} is less than one: none of them is held out",
                      hold_out_.fraction, count, what));
    return split;
  }

  // A line with all its times held out would determine nothing: then the times of one size are fitted.
  void fit_each_line(const std::vector<std::size_t>& kinds, Split& split) {
    const std::vector<Point>& points = measurements_.points;
    std::set<std::string> files;
    for (const std::size_t number : std::vector<std::size_t>(split.held)) {
      const auto on_line = [&](std::size_t other) { return same_line(points[other], points[number]); };
      if (std::ranges::any_of(split.fitted, on_line)) continue;
      const auto of_kind = [&](std::size_t other) { return kinds[other] == kinds[number]; };
      std::ranges::copy_if(split.held, std::back_inserter(split.fitted), of_kind);
      std::erase_if(split.held, of_kind);
      files.insert(points[number].source);
    }
    if (files.empty()) return;
    all_.remarks.push_back(
        fmt::format("{}{}: times drawn to be held out are fitted: nothing else determines the same values",
                    *files.begin(), files.size() == 1 ? "" : fmt::format(" and {} more", files.size() - 1)));
  }

  Values determined() const {
    Values determined;
    for (const auto& [path, value] : values_) determined[path] = value.value;
    return determined;
  }

  Result<void> predict(RunFitter& fitter, const std::vector<std::size_t>& numbers, bool held) {
    const auto predicted = fitter.predict(numbers, determined());
    if (!predicted) return tl::unexpected(predicted.error());
    (held ? all_.runs.held_out : all_.runs.fitted) = misses_of(*predicted);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Duration time = Duration::from_seconds((*predicted)[i].predicted_s);
      all_.predicted.push_back({measurements_.runs[numbers[i]], time, held});
    }
    return {};
  }

  const Topology& topology_;
  const Measurements& measurements_;
  const HoldOut& hold_out_;
  std::map<std::string, CalibratedValue> values_;  // the determined ones, by path
  std::set<std::string> of_runs_;                  // of these, those that runs determined
  PointFit point_fit_;
  std::vector<Point> fitted_points_;  // without those that the fit meets whatever they are
  std::vector<Point> held_points_;
  std::size_t kinds_ = 0;       // of the fitted runs
  std::size_t parameters_ = 0;  // searched for
  bool any_missed_ = false;     // of these, because their runs are predicted wrong
  Values stated_;               // in the runs' experiments
  Calibrated all_;
};

}  // namespace

Result<Calibrated> calibrate(const Topology& topology, const Measurements& measurements,
                             const HoldOut& hold_out) {
  Calibrator calibrator(topology, measurements, hold_out);
  if (const auto fitted = calibrator.fit_points(); !fitted) return tl::unexpected(fitted.error());
  if (const auto fitted = calibrator.fit_runs(); !fitted) return tl::unexpected(fitted.error());
  return calibrator.finish();
}

}  // namespace weir
