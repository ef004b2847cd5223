#include "apps/weir/text/whatif_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/weir/text/output.h"
#include "core/base/units_text.h"
#include "core/base/version.h"
#include "core/document/document.h"
#include "core/document/write_fields.h"
#include "studies/output/csv.h"
#include "studies/output/table.h"
#include "studies/run/labels.h"

namespace weir {
namespace {

using nlohmann::ordered_json;
using Side = Table::Column::Side;

/// Collects the names of an answer's fields.
class Names {
 public:
  template <class T>
  void required(std::string_view name, T& /*field*/, std::string_view /*about*/) {
    names_.emplace_back(name);
  }
  template <class T>
  void optional(std::string_view name, T& field, std::string_view about) {
    required(name, field, about);
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

// With four significant digits, however small the value.
std::string amount(const std::string& currency, const std::optional<double>& value) {
  if (!value) return "-";
  const int whole = *value > 0 ? static_cast<int>(std::floor(std::log10(*value))) : 0;
  return money(currency, fmt::format("{:.{}f}", *value, std::max(0, 3 - whole)));
}

std::string saving(double percent) {
  constexpr double kShown = 0.05;
  return fmt::format("{:.1f} %", std::abs(percent) < kShown ? 0.0 : percent);
}

bool has_costs(const Series& series) {
  return std::any_of(series.answers.begin(), series.answers.end(),
                     [](const Answer& answer) { return answer.price_per_hour.has_value(); });
}

std::string mark(const Answer& answer) {
  if (answer.knee && answer.cheapest) return "knee, cheapest";
  return answer.knee ? "knee" : answer.cheapest ? "cheapest" : "";
}

}  // namespace

std::string table(const Series& series, const Wording& wording) {
  const bool costs = has_costs(series);
  std::vector<Table::Column> columns = {{"CPU machines"}, {"iteration"}, {"speed-up"}};
  if (costs) {
    for (const std::string& title : {std::string("an hour"), std::string("an iteration"),
                                     fmt::format("1000 {}s", wording.sample), std::string("saving")}) {
      columns.push_back({title});
    }
  }
  columns.push_back({"label", Side::kLeft});
  columns.push_back({"binding", Side::kLeft});
  columns.push_back({"", Side::kLeft});
  std::vector<Table::Cells> rows;
  for (const Answer& answer : series.answers) {
    Table::Cells& cells = rows.emplace_back();
    cells = {std::to_string(answer.cpu_machines), rounded(Duration(answer.iteration_ns)),
             fmt::format("{:.2f}x", answer.speedup)};
    if (costs) {
      cells.push_back(amount(wording.currency, answer.price_per_hour));
      cells.push_back(amount(wording.currency, answer.cost_per_iteration));
      cells.push_back(amount(wording.currency, answer.cost_per_1000_samples));
      cells.push_back(answer.saving_percent ? saving(*answer.saving_percent) : "-");
    }
    cells.push_back(answer.label.value_or("-"));
    cells.push_back(without_number(answer.binding));
    cells.push_back(mark(answer));
  }
  return text(std::move(columns), rows);
}

std::string knees(const std::vector<Series>& all, const Wording& wording) {
  const bool costs = std::any_of(all.begin(), all.end(), has_costs);
  std::vector<Table::Column> columns = {{"knee of", Side::kLeft}, {"CPU machines"}, {"iteration"}};
  if (costs) columns.push_back({"an iteration"});
  columns.push_back({"binding", Side::kLeft});
  std::vector<Table::Cells> rows;
  for (const Series& series : all) {
    for (const Answer& answer : series.answers) {
      if (!answer.knee) continue;
      Table::Cells& cells = rows.emplace_back();
      cells = {text(series.scenario), std::to_string(answer.cpu_machines),
               rounded(Duration(answer.iteration_ns))};
      if (costs) cells.push_back(amount(wording.currency, answer.cost_per_iteration));
      cells.push_back(without_number(answer.binding));
    }
  }
  return text(std::move(columns), rows);
}

std::string csv(const std::vector<Series>& all) {
  Names columns;
  Answer example;
  fields(columns, example);
  std::string text = fmt::format("{}\n", fmt::join(columns.names(), ","));
  for (const Series& series : all) {
    for (const Answer& answer : series.answers) {
      const ordered_json row = write_fields(answer);
      std::vector<std::string> cells;
      for (const std::string& column : columns.names()) cells.push_back(cell(row, column));
      text += fmt::format("{}\n", fmt::join(cells, ","));
    }
  }
  return text;
}

std::string json(const std::vector<Series>& all, ordered_json members) {
  members["answers"] = ordered_json::array();
  for (const Series& series : all) {
    for (const Answer& answer : series.answers) members["answers"].push_back(write_fields(answer));
  }
  return json_text(members, 2) + "\n";
}

void introduce_whatif(const WhatifPage& page) {
  const auto& [input, experiment, scenarios, bound_only] = page;
  const Topology& topology = experiment.topology;
  std::int64_t machines = 0;
  for (const GroupSpec& group : topology.groups) machines += gpu_count(group) > 0 ? group.count : 0;
  print("{} ({}) on {}: {} machines with GPUs, {} to {} in '{}'; {}\n", experiment.trace.name,
        rounded(size(experiment.trace)), topology.name, machines, scenarios.counts().front(),
        scenarios.counts().back(), scenarios.group(),
        bound_only ? "bounds, nothing is simulated" : "simulated");
  if (scenarios.made_up()) {
    print("The topology has no such group. Its machines are a GPU machine's first NUMA node with a NIC\n");
  }
}

void print_missing(const WhatifAnswers& answers) {
  for (const NoAnswer& one : answers.missing) {
    print_error("weir whatif: {} at {} CPU machines {}: {}\n", text(one.scenario),
                fmt::join(one.counts, ", "),
                one.kind == Outcome::Kind::kFailed ? "failed" : "is not possible", one.why);
  }
}

void show(const WhatifAnswers& answers, const WhatifPage& page) {
  const std::vector<Series>& all = answers.series;
  const Wording wording{page.scenarios.currency(), page.experiment.trace.sample};
  for (const Series& series : all) {
    if (series.answers.empty()) continue;
    print("\n{}{}", all.size() > 1 ? text(series.scenario) + "\n" : "", table(series, wording));
  }
  if (all.size() > 1) print("\n{}", knees(all, wording));
  print("\nknee: the fewest CPU machines within {:.0f} % of the shortest iteration\n", 100 * kKnee);
  std::vector<Labelled> labels;
  for (const Series& series : all) {
    for (const Answer& answer : series.answers)
      labels.push_back({text(series.scenario), answer.label.value_or(""), answer.label_reason.value_or("")});
  }
  print("{}", reasons(labels));
  if (const auto unpriced = page.scenarios.unpriced()) {
    print("No costs, as '{}' has no price in the topology; --gpu-price and --cpu-price set one\n", *unpriced);
  }
  if (answers.whole()) print("\n{}\n", advice(all, page.scenarios));
}

std::string json(const WhatifAnswers& answers, const WhatifPage& page) {
  const auto& [input, experiment, scenarios, bound_only] = page;
  nlohmann::ordered_json members = {{"weir", version()},
                                    {"topology", input.file},
                                    {"trace", input.trace},
                                    {"settings", input.settings},
                                    {"group", scenarios.group()},
                                    {"currency", scenarios.currency()},
                                    {"sample", experiment.trace.sample},
                                    {"bound_only", bound_only},
                                    {"finished", answers.whole()}};
  if (input.trace.empty()) {
    members.erase("trace");
    members.erase("topology");
    members["experiment"] = input.file;
  }
  if (answers.whole()) members["advice"] = advice(answers.series, scenarios);
  return json(answers.series, std::move(members));
}

}  // namespace weir
