#include "apps/weir/text/calibrate_text.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/units_text.h"
#include "core/base/version.h"
#include "core/cluster/topology_fields.h"
#include "core/document/document.h"
#include "core/document/write_fields.h"
#include "core/experiment/settings.h"
#include "studies/output/table.h"

namespace weir {
namespace {

using Json = nlohmann::ordered_json;
using Side = Table::Column::Side;

constexpr std::size_t kMostUndetermined = 12;

std::string value_text(const Value& value) {
  if (!value.is(Value::Kind::kString)) return label(value);
  if (const auto rate = parse_rate(value.as_string())) return rounded(*rate);
  const auto time = parse_duration(value.as_string());
  return time ? rounded(*time) : value.as_string();
}

// Warns, for example, about a time that hardly affects what was measured.
std::string note(const CalibratedValue& value) {
  return value.determined() ? "" : "not determined by these measurements";
}

std::string was_text(const std::string& was) { return was.empty() ? "-" : value_text(Value(was)); }

std::string sources_text(const CalibratedValue& value) {
  std::vector<std::string> names;
  for (const std::string& source : value.sources)
    names.push_back(std::filesystem::path(source).filename().string());
  return fmt::format("{}", fmt::join(names, ", "));
}

void add_misses(std::vector<Table::Cells>& rows, const std::string& of, const std::string& which,
                const Misses& misses) {
  if (misses.count == 0) return;
  rows.push_back({of, which, std::to_string(misses.count), fmt::format("{:.2f} %", misses.median),
                  fmt::format("{:.2f} %", misses.p95), fmt::format("{:.2f} %", misses.worst)});
}

Json misses_json(const Misses& misses) {
  if (misses.count == 0) return {{"count", 0}};
  return {{"count", misses.count},
          {"median_percent", misses.median},
          {"p95_percent", misses.p95},
          {"worst_percent", misses.worst}};
}

}  // namespace

std::string text(const Calibrated& calibrated) {
  std::vector<Table::Cells> rows;
  for (const CalibratedValue& value : calibrated.values) {
    rows.push_back(
        {value.path, was_text(value.was), value_text(value.value),
         value.standard_error_percent ? fmt::format("{:.2f} %", *value.standard_error_percent) : "-",
         std::to_string(value.points),
         fmt::format("{} to {}", rounded(value.least_size), rounded(value.most_size)),
         value.machines ? std::to_string(*value.machines) : "-", sources_text(value), note(value)});
  }
  std::string all = text({{"value", Side::kLeft},
                          {"was"},
                          {"is"},
                          {"standard error"},
                          {"points"},
                          {"sizes"},
                          {"machines"},
                          {"measured in", Side::kLeft},
                          {"", Side::kLeft}},
                         rows);
  rows.clear();
  add_misses(rows, "times of benchmarks", "fitted", calibrated.points.fitted);
  add_misses(rows, "times of benchmarks", "held out", calibrated.points.held_out);
  add_misses(rows, "iterations of runs", "fitted", calibrated.runs.fitted);
  add_misses(rows, "iterations of runs", "held out", calibrated.runs.held_out);
  all += "\n" + text({{"error of", Side::kLeft},
                      {"set", Side::kLeft},
                      {"count"},
                      {"median"},
                      {"95th percentile"},
                      {"worst"}},
                     rows);
  if (!calibrated.undetermined.empty()) {
    all += "\nUsed by the runs, but not measured, so unchanged:\n";
    for (std::size_t i = 0; i < calibrated.undetermined.size() && i < kMostUndetermined; ++i)
      all += "  " + calibrated.undetermined[i] + "\n";
    if (calibrated.undetermined.size() > kMostUndetermined)
      all += fmt::format("  and {} more\n", calibrated.undetermined.size() - kMostUndetermined);
  }
  return all;
}

std::string json(const Calibrated& calibrated) {
  Json values = Json::array();
  for (const CalibratedValue& value : calibrated.values) values.push_back(write_fields(value));
  Json runs = Json::array();
  for (const PredictedRun& one : calibrated.predicted) {
    const Experiment& experiment = *one.run.experiment;
    Json machines = Json::object();
    for (const GroupSpec& group : experiment.topology.groups) machines[group.name] = group.count;
    runs.push_back({{"source", one.run.source},
                    {"strategy", one.run.contender},
                    {"trace", experiment.trace.name},
                    {"machines", machines},
                    {"iteration_ns", one.run.iteration.ns()},
                    {"predicted_ns", one.predicted.ns()},
                    {"error_percent", one.percent()},
                    {"held_out", one.held_out}});
  }
  const Json document = {{"weir", version()},
                         {"values", values},
                         {"untold", calibrated.undetermined},
                         {"remarks", calibrated.remarks},
                         {"errors",
                          {{"points",
                            {{"fitted", misses_json(calibrated.points.fitted)},
                             {"held_out", misses_json(calibrated.points.held_out)}}},
                           {"runs",
                            {{"fitted", misses_json(calibrated.runs.fitted)},
                             {"held_out", misses_json(calibrated.runs.held_out)}}}}},
                         {"runs", runs}};
  return json_text(document, 2) + "\n";
}

}  // namespace weir
