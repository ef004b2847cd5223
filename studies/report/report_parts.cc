#include "studies/report/report_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "core/base/units_text.h"
#include "studies/output/shell_word.h"
#include "studies/output/table.h"
#include "studies/report/chart.h"
#include "studies/run/simulated_world.h"

namespace weir {
namespace {

// A cell that sorts as a number.
std::string numeric(double number, const std::string& words) {
  return fmt::format("<td class='n' data-v='{:.17g}'>{}</td>", number, escaped(words));
}

std::string cell_of(const std::string& text) { return fmt::format("<td>{}</td>", escaped(text)); }

std::string rate(double samples_per_s) {
  constexpr double kMany = 1000;
  return samples_per_s < kMany ? fmt::format("{:.4g}", samples_per_s) : fmt::format("{:.0f}", samples_per_s);
}

std::string swatch(const std::string& strategy, const Study& study) {
  return fmt::format("<td><i class='swatch' style='background:{}'></i>{}</td>",
                     color_of(strategy, study.strategies), escaped(strategy));
}

std::vector<std::string> axis_titles(const Study& study) {
  std::vector<std::string> paths;
  for (const StudyAxis& axis : study.axes) paths.push_back(paths_in(axis.path).front());
  return titles(paths);
}

// The command that repeats this run alone and draws it. It names files relative to where the experiment was.
std::string command_of(const Study& study, const Run& run) {
  std::string command = "weir run " + shell_word(study.file);
  const auto set = [&](const std::string& path, const std::string& value) {
    command += " --set " + shell_word(path + "=" + value);
  };
  for (const Value::Member& setting : study.settings.members()) set(setting.name, label(setting.value));
  for (std::size_t i = 0; i < study.axes.size(); ++i) {
    const std::string value = label(study.points[run.point].values[i]);
    const bool named = is_file_part(study.axes[i].path);
    set(study.axes[i].path,
        named ? (std::filesystem::path(study.file).parent_path() / value).lexically_normal().string()
              : value);
  }
  set("seeds", fmt::format("[{}]", run.trial.seed));
  set("timelines", fmt::format("[\"{}\"]", run.trial.strategy));
  return command + words(simulation_of(study.world, study.world_settings));
}

std::string best_row(const ReportMatter& matter, const StrategySummary& summary) {
  const Study& study = matter.results.study();
  const Run& run = matter.results.runs()[*summary.best];
  const Row& row = run.outcome->row;
  std::string html = "<tr>" + swatch(summary.strategy, study);
  if (study.traces.size() > 1) html += cell_of(study.traces[summary.trace].name);
  for (const Value& value : study.points[run.point].values) html += cell_of(label(value));
  html += numeric(static_cast<double>(row.iteration_ns), rounded(Duration(row.iteration_ns)));
  html += numeric(row.samples_per_s, rate(row.samples_per_s));
  html += numeric(row.speedup.value_or(0), row.speedup ? fmt::format("{:.2f}", *row.speedup) : "");
  html += numeric(row.bound_percent.value_or(0),
                  row.bound_percent ? fmt::format("{:.0f} %", *row.bound_percent) : "");
  html += cell_of(row.label.value_or("")) + cell_of(row.binding);
  return html + "</tr>";
}

// How far results can be trusted, and why not further; the most common reason first.
std::string labels_of(const std::vector<Run>& runs) {
  constexpr std::size_t kMost = 8;
  std::map<std::pair<std::string, std::string>, std::size_t> counts;
  for (const Run& run : runs) {
    if (!run.outcome || !run.outcome->row.label) continue;
    ++counts[{*run.outcome->row.label, run.outcome->row.label_reason.value_or("")}];
  }
  std::vector<std::pair<std::pair<std::string, std::string>, std::size_t>> order(counts.begin(),
                                                                                 counts.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string html;
  for (std::size_t i = 0; i < std::min(kMost, order.size()); ++i) {
    const auto& [label, count] = order[i];
    html += "<tr>" + numeric(static_cast<double>(count), std::to_string(count)) + cell_of(label.first) +
            cell_of(label.second) + "</tr>";
  }
  if (order.size() > kMost)
    html += html_row({"", "", fmt::format("and {} more reasons", order.size() - kMost)});
  return "<table>" + html_row({"results", "label", "why it is not better"}, "th") + html + "</table>";
}

std::string links_of(const Row& row) {
  std::string html;
  constexpr std::size_t kMost = 8;
  for (const LinkRow& link :
       std::vector(row.links.begin(),
                   row.links.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, row.links.size())))) {
    html += fmt::format("<tr><td>{}</td><td>{}</td><td class='n'>{:.0f} %</td></tr>", escaped(link.name),
                        bar({{std::min(1.0, link.use), "#0072B2", fmt::format("{:.1f} %", 100 * link.use)}}),
                        100 * link.use);
  }
  return "<table>" + html_row({"most used link of each kind", "", "use"}, "th") + html + "</table>";
}

}  // namespace

std::string rounded_seconds(double seconds) { return rounded(Duration::from_seconds(seconds)); }

std::string html_row(const std::vector<std::string>& cells, const char* kind) {
  std::string html = "<tr>";
  for (const std::string& cell : cells) html += fmt::format("<{0}>{1}</{0}>", kind, cell);
  return html + "</tr>";
}

std::string answer_part(const ReportMatter& matter) {
  const Study& study = matter.results.study();
  std::string html = "<h2>Best point of each strategy</h2>";
  std::vector<const StrategySummary*> order;
  for (const StrategySummary& summary : matter.summaries)
    if (summary.best) order.push_back(&summary);
  if (order.empty()) return html + "<p>No run has a result yet.</p>";
  const auto most = [&](const StrategySummary* summary) {
    return matter.results.runs()[*summary->best].outcome->row.samples_per_s;
  };
  std::stable_sort(order.begin(), order.end(), [&](const auto* a, const auto* b) {
    return std::pair(a->trace, -most(a)) < std::pair(b->trace, -most(b));
  });
  const Run& best = matter.results.runs()[*order.front()->best];
  const Row& row = best.outcome->row;
  const std::string at = study.label(best.point);
  html += fmt::format(
      "<p><b>{}</b>{} has the most samples per second{}: an iteration of {}{}; {} binds it.</p>",
      escaped(best.trial.strategy), at.empty() ? "" : " at <code>" + escaped(at) + "</code>",
      study.traces.size() > 1 ? " of " + escaped(study.traces[order.front()->trace].name) : "",
      rounded_seconds(static_cast<double>(row.iteration_ns) * 1e-9),
      row.speedup ? fmt::format(", {:.2f} times as fast as {} there", *row.speedup, escaped(study.baseline))
                  : "",
      escaped(row.binding));
  html += "<div class='wide'><table><tr><th>strategy</th>";
  if (study.traces.size() > 1) html += "<th>model</th>";
  for (const std::string& title : axis_titles(study)) html += fmt::format("<th>{}</th>", escaped(title));
  html +=
      "<th class='n'>iteration</th><th class='n'>samples/s</th><th class='n'>speed-up</th><th class='n'>of "
      "bound</th><th>label</th><th>what binds</th></tr>";
  for (const StrategySummary* summary : order) html += best_row(matter, *summary);
  html += "</table></div>" + labels_of(matter.results.runs()) + links_of(row);
  return html +
         fmt::format("<p class='note'>To run the best point alone, with its timeline:</p><pre>{}</pre>",
                     escaped(command_of(study, best)));
}

std::string strategies_part(const ReportMatter& matter) {
  const Study& study = matter.results.study();
  double most = 1;
  for (const StrategySummary& summary : matter.summaries)
    if (!summary.speedups.empty()) most = std::max(most, summary.speedups.back());
  std::string html = "<h2>Strategies over all points</h2><table><tr><th>strategy</th>";
  if (study.traces.size() > 1) html += "<th>model</th>";
  html += fmt::format(
      "<th class='n'>runs</th><th class='n'>fastest at</th><th class='n'>speed-up: median</th>"
      "<th>least to most, from 0 to {:.2g}; dashed: {}</th><th class='n'>of bound: median</th></tr>",
      most, escaped(study.baseline));
  for (const StrategySummary& summary : matter.summaries) {
    html += "<tr>" + swatch(summary.strategy, study);
    if (study.traces.size() > 1) html += cell_of(study.traces[summary.trace].name);
    html += numeric(static_cast<double>(summary.rows), fmt::format("{} of {}", summary.rows, summary.runs));
    html += numeric(static_cast<double>(summary.fastest), std::to_string(summary.fastest));
    if (summary.speedups.empty()) {
      html += "<td></td><td></td>";
    } else {
      const double middle = median(summary.speedups);
      html += numeric(middle, fmt::format("{:.2f}", middle));
      html += fmt::format("<td>{} {:.2f} to {:.2f}</td>",
                          whisker(summary.speedups.front(), middle, summary.speedups.back(), 1, most,
                                  color_of(summary.strategy, study.strategies)),
                          summary.speedups.front(), summary.speedups.back());
    }
    const double of_bound = summary.of_bound.empty() ? 0 : median(summary.of_bound);
    html += numeric(of_bound, summary.of_bound.empty() ? "" : fmt::format("{:.0f} %", of_bound)) + "</tr>";
  }
  return html + "</table>";
}

std::string binding_part(const ReportMatter& matter) {
  const Study& study = matter.results.study();
  std::vector<std::string> kinds;
  for (const StrategySummary& summary : matter.summaries)
    for (const auto& [kind, count] : summary.binding) kinds.push_back(kind);
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  if (kinds.empty()) return {};
  std::string html =
      "<h2>What binds</h2><p class='note'>The kinds of resources that set the bounds of a strategy's plans, "
      "and in how many of its runs.</p><table>";
  for (const StrategySummary& summary : matter.summaries) {
    if (summary.rows == 0) continue;
    std::vector<BarPart> parts;
    std::vector<std::pair<std::size_t, std::string>> words;
    for (const auto& [kind, count] : summary.binding) {
      const double part = static_cast<double>(count) / static_cast<double>(summary.rows);
      parts.push_back({part, color_of(kind, kinds), fmt::format("{}: {}", kind, count)});
      words.emplace_back(count, fmt::format("<i class='swatch' style='background:{}'></i>{} {:.0f} %",
                                            color_of(kind, kinds), escaped(kind), 100 * part));
    }
    std::sort(words.rbegin(), words.rend());
    std::string legend;
    for (const auto& [count, word] : words) legend += word + " &nbsp; ";
    const std::string model =
        study.traces.size() > 1 ? " on " + escaped(study.traces[summary.trace].name) : "";
    html += "<tr>" +
            fmt::format("<td>{}{}</td><td>{}</td><td>{}</td>", escaped(summary.strategy), model, bar(parts),
                        legend) +
            "</tr>";
  }
  return html + "</table>";
}

std::string runs_part(const ReportMatter& matter) {
  constexpr std::size_t kMost = 5000;
  const Study& study = matter.results.study();
  const std::vector<Run>& runs = matter.results.runs();
  std::string html = fmt::format(
      "<h2>All runs</h2><p class='note'>Click a title to sort.{} <code>weir sweep --results {} --export "
      "runs.csv</code> writes all of them.</p><div class='wide'><table "
      "id='runs'><thead><tr><th>strategy</th>",
      runs.size() > kMost ? fmt::format(" The first {} of {}.", kMost, runs.size()) : "",
      escaped(matter.folder));
  for (const std::string& title : axis_titles(study)) html += fmt::format("<th>{}</th>", escaped(title));
  html +=
      "<th class='n'>seed</th><th class='n'>iteration</th><th class='n'>samples/s</th><th "
      "class='n'>speed-up</th><th class='n'>of bound</th><th>label</th><th>what binds, or why there is no "
      "result</th></tr></thead><tbody>";
  for (std::size_t i = 0; i < std::min(runs.size(), kMost); ++i) {
    const Run& run = runs[i];
    html += "<tr>" + swatch(run.trial.strategy, study);
    for (const Value& value : study.points[run.point].values) html += cell_of(label(value));
    html += numeric(static_cast<double>(run.trial.seed), std::to_string(run.trial.seed));
    if (!run.outcome || run.outcome->kind != Outcome::Kind::kRow) {
      const std::string why = run.outcome ? run.outcome->text : "not computed yet";
      html += "<td></td><td></td><td></td><td></td><td></td>" + cell_of(why.substr(0, 120)) + "</tr>";
      continue;
    }
    const Row& row = run.outcome->row;
    html += numeric(static_cast<double>(row.iteration_ns), rounded(Duration(row.iteration_ns)));
    html += numeric(row.samples_per_s, rate(row.samples_per_s));
    html += numeric(row.speedup.value_or(0), row.speedup ? fmt::format("{:.3f}", *row.speedup) : "");
    html += numeric(row.bound_percent.value_or(0),
                    row.bound_percent ? fmt::format("{:.1f} %", *row.bound_percent) : "");
    html += cell_of(row.label.value_or("")) + cell_of(row.binding) + "</tr>";
  }
  return html + "</tbody></table></div>";
}

}  // namespace weir
