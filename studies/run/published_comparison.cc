#include "studies/run/published_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/units_text.h"
#include "studies/output/csv.h"
#include "studies/output/table.h"

namespace weir {
namespace {

using Side = Table::Column::Side;

std::optional<double> measured(Measure measure, const Row& row) {
  const auto iteration = static_cast<double>(row.iteration_ns) * 1e-9;
  switch (measure) {
    case Measure::kIteration:
      return iteration;
    case Measure::kThroughput:
      return row.samples_per_s;
    case Measure::kGoodput:
      if (!row.goodput_bytes_per_s) return std::nullopt;
      return static_cast<double>(*row.goodput_bytes_per_s);
    case Measure::kEfficiency:
      return static_cast<double>(row.compute_ns) * 1e-9 / iteration;
    case Measure::kSpeedup:
      return row.speedup;
  }
  return std::nullopt;
}

std::string shown(Measure measure, double value) {
  switch (measure) {
    case Measure::kIteration:
      return rounded(Duration::from_seconds(value));
    case Measure::kGoodput:
      return rounded(BytesPerSecond(std::llround(value)));
    case Measure::kEfficiency:
      return fmt::format("{:.1f} %", 100 * value);
    case Measure::kSpeedup:
      return fmt::format("{:.3f}x", value);
    case Measure::kThroughput:
      break;
  }
  return fmt::format("{:.0f}/s", value);
}

std::string at(const ExperimentFile& file, std::size_t point) {
  std::vector<std::string> paths;
  for (const Axis& axis : file.axes()) paths.push_back(paths_in(axis.path).front());
  const std::vector<std::string> titles = weir::titles(paths);
  const std::vector<Setting> settings = file.point(point);
  std::string text;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    text += fmt::format("{}{}={}", i > 0 ? " " : "", titles[i], settings[i].text);
  }
  return text;
}

// A table's cells for one value, except where it stands.
Table::Cells cells(const Comparison& one) {
  const std::optional<double> error = one.error();
  return {shown(one.measure, one.published), one.ours ? shown(one.measure, *one.ours) : "-",
          error ? fmt::format("{:+.1f} %", 100 * *error) : "-", fmt::format("{:.3g} %", 100 * one.tolerance),
          one.within() ? "yes" : "no"};
}

constexpr std::string_view kTitles[] = {"published", "ours", "error", "allowed", "within"};

}  // namespace

std::optional<double> Comparison::error() const {
  if (!ours) return std::nullopt;
  return *ours / published - 1;
}

bool Comparison::within() const {
  const std::optional<double> off = error();
  return off && std::abs(*off) <= tolerance;
}

std::vector<Comparison> comparisons(const ExperimentFile& file, const Experiment& experiment,
                                    const Results& results, const std::string& name) {
  std::vector<Comparison> all;
  if (!experiment.published) return all;
  for (const PublishedCurve& curve : experiment.published->curves) {
    for (const Run& run : results.runs()) {
      const std::optional<double> published = curve.numbers[run.point];
      if (run.trial.strategy != curve.strategy || run.trial.seed != experiment.seeds.front() || !published)
        continue;
      Comparison one{name,
                     experiment.published->source,
                     experiment.published->calibrated_on,
                     curve.strategy,
                     at(file, run.point),
                     curve.measure,
                     *published,
                     std::nullopt,
                     curve.tolerance};
      if (run.outcome && run.outcome->kind == Outcome::Kind::kRow)
        one.ours = measured(curve.measure, run.outcome->row);
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::string text(const std::vector<Comparison>& all) {
  std::vector<Table::Column> columns = {
      {"experiment", Side::kLeft, 0}, {"strategy", Side::kLeft, 0}, {"at", Side::kLeft, 0}};
  for (const std::string_view title : kTitles) columns.push_back({std::string(title), Side::kRight, 0});
  std::vector<Table::Cells> rows;
  for (const Comparison& one : all) {
    Table::Cells row = {one.experiment, one.strategy, one.at};
    for (std::string& cell : cells(one)) row.push_back(std::move(cell));
    rows.push_back(std::move(row));
  }
  return weir::text(std::move(columns), rows);
}

std::string csv(const std::vector<Comparison>& all) {
  std::string text = "experiment,source,calibrated_on,strategy,at,measure,published,ours,tolerance,within\n";
  for (const Comparison& one : all) {
    text += fmt::format("{},{},{},{},{},{},{:.6g},{},{:.6g},{}\n", cell(one.experiment), cell(one.source),
                        cell(one.calibrated_on), cell(one.strategy), cell(one.at), enum_name(one.measure),
                        one.published, one.ours ? fmt::format("{:.6g}", *one.ours) : "", one.tolerance,
                        one.within() ? "yes" : "no");
  }
  return text;
}

std::string markdown(const std::vector<Comparison>& all) {
  std::string text;
  std::string experiment;
  for (const Comparison& one : all) {
    if (one.experiment != experiment) {
      experiment = one.experiment;
      text += fmt::format("{}### {}\n\n{}. Calibrated on: {}.\n\n| strategy | at | {} |\n|---|---|{}\n",
                          text.empty() ? "" : "\n", experiment, one.source, one.calibrated_on,
                          fmt::join(kTitles, " | "), "--:|--:|--:|--:|---|");
    }
    text += fmt::format("| {} | {} | {} |\n", one.strategy, one.at, fmt::join(cells(one), " | "));
  }
  return text;
}

}  // namespace weir
