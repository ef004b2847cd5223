// The parts of a report about what was varied, what failed, and where everything comes from.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/units_text.h"
#include "studies/output/table.h"
#include "studies/report/chart.h"
#include "studies/report/report_parts.h"

namespace weir {
namespace {

std::string words_of(Effect::Unit unit, double number) {
  const auto whole = static_cast<std::int64_t>(std::llround(number));
  switch (unit) {
    case Effect::Unit::kSize:
      return rounded(Bytes(whole));
    case Effect::Unit::kRate:
      return rounded(BytesPerSecond(std::max<std::int64_t>(1, whole / 8)));
    case Effect::Unit::kDuration:
      return rounded(Duration(whole));
    case Effect::Unit::kNone:
    case Effect::Unit::kNumber:
      break;
  }
  return fmt::format("{:.4g}", number);
}

// "1MB, 2MB, 4MB", or "200 samples from 64KiB to 4MiB".
std::string values_of(const Study& study, const StudyAxis& axis) {
  const Value* over = axis.sampled ? study.samples.find("over") : nullptr;
  const Value* range = over == nullptr ? nullptr : over->find(axis.path);
  if (range != nullptr && range->find("from") != nullptr && range->find("to") != nullptr) {
    return fmt::format("{} samples from {} to {}", axis.choices.size(), label(*range->find("from")),
                       label(*range->find("to")));
  }
  std::vector<std::string> labels;
  for (const Value& choice : axis.choices) {
    std::string text = label(choice);
    if (std::find(labels.begin(), labels.end(), text) == labels.end()) labels.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(labels, ", "));
}

ChartLine line_of(const EffectLine& line, const Study& study, const Results& results, bool speedups) {
  ChartLine drawn{color_of(line.strategy, study.strategies), {}, {}};
  for (const Level& level : line.levels) {
    if (speedups && !level.speedup) continue;
    const double y = speedups ? *level.speedup : level.iteration_s;
    drawn.points.push_back(
        {level.x, y,
         fmt::format("{}{}: {}", line.strategy, level.label.empty() ? "" : " at " + level.label,
                     speedups ? fmt::format("{:.3f}", y) : rounded_seconds(y))});
  }
  for (const auto& [x, run] : line.cloud) {
    const Row& row = results.runs()[run].outcome->row;
    if (speedups && !row.speedup) continue;
    const double y = speedups ? *row.speedup : static_cast<double>(row.iteration_ns) * 1e-9;
    drawn.cloud.push_back({x, y, results.name(results.runs()[run])});
  }
  return drawn;
}

// Whether some points would lie close to the bottom of a linear axis.
bool spans_decades(const std::vector<ChartLine>& lines) {
  constexpr double kFactor = 5;
  double least = INFINITY;
  double most = 0;
  for (const ChartLine& line : lines) {
    for (const auto* points : {&line.points, &line.cloud}) {
      for (const ChartPoint& point : *points) {
        least = std::min(least, point.y);
        most = std::max(most, point.y);
      }
    }
  }
  return least > 0 && most > kFactor * least;
}

std::string charts_of(const Effect& effect, const ReportMatter& matter, const std::string& title) {
  const Study& study = matter.results.study();
  const ChartScale x{title, effect.logarithmic, effect.categories,
                     [unit = effect.unit](double number) { return words_of(unit, number); }};
  const ChartScale speedups{"speed-up over " + study.baseline, false, {}, [](double number) {
                              return fmt::format("{:.3g}", number);
                            }};
  std::vector<ChartLine> in_time;
  std::vector<ChartLine> in_speedup;
  for (const EffectLine& line : effect.lines) {
    in_time.push_back(line_of(line, study, matter.results, false));
    if (line.strategy != study.baseline) in_speedup.push_back(line_of(line, study, matter.results, true));
  }
  const ChartScale times{"iteration", spans_decades(in_time), {}, rounded_seconds};
  return fmt::format("<div class='charts'>{}{}</div>", line_chart(x, times, in_time),
                     line_chart(x, speedups, in_speedup));
}

double largest_ratio(const Effect& effect) {
  double most = 1;
  for (const EffectLine& line : effect.lines) most = std::max(most, line.ratio().value_or(1));
  return most;
}

struct Missing {
  std::string who;
  std::string why;
  std::vector<std::string> points;
};

void add_missing(std::vector<Missing>& all, const std::string& who, const std::string& why,
                 std::string point) {
  const auto known = std::find_if(all.begin(), all.end(),
                                  [&](const Missing& one) { return one.who == who && one.why == why; });
  Missing& one = known == all.end() ? all.emplace_back(Missing{who, why, {}}) : *known;
  one.points.push_back(std::move(point));
}

std::string failed_row(const ReportMatter& matter, std::size_t i) {
  const StoredResult& stored_result = *matter.sweep.stored_result(i);
  std::string how = std::string(enum_name(stored_result.status));
  if (stored_result.signal) how += fmt::format(", signal {}", *stored_result.signal);
  std::string why = escaped(stored_result.outcome.text);
  if (!stored_result.errors.empty()) why += "<pre>" + escaped(stored_result.errors) + "</pre>";
  return html_row({escaped(matter.results.name(matter.results.runs()[i])), how, why,
                   fmt::format("{} on {}, {:.3g} s", escaped(stored_result.began),
                               escaped(stored_result.host), stored_result.seconds)});
}

// A line for each name, with its hash, or with the number of sources if several share the name.
std::string sources_of(const std::vector<Source>& sources) {
  std::map<std::string, std::vector<std::string>> hashes;
  for (const Source& source : sources) hashes[source.name].push_back(source.hash);
  std::string html;
  for (const auto& [name, own] : hashes) {
    html += fmt::format("{} <code>{}</code><br>", escaped(name),
                        own.size() == 1 ? own.front() : fmt::format("{} of them", own.size()));
  }
  return html;
}

std::string listed(const std::set<std::string>& texts) {
  return escaped(fmt::format("{}", fmt::join(texts, ", ")));
}

// How far the separate effects can be trusted.
std::string explained_of(const ReportMatter& matter) {
  std::vector<std::string> words;
  for (const std::string& strategy : matter.results.study().strategies) {
    const auto found = matter.effects.explained.find(strategy);
    if (found != matter.effects.explained.end())
      words.push_back(fmt::format("{} {:.0f} %", escaped(strategy), 100 * found->second));
  }
  if (words.empty()) return "There are too few runs to judge yet.";
  return fmt::format(
      "Separate effects explain this share of the variance: {}. The rest are effects of several values "
      "together.",
      fmt::join(words, ", "));
}

}  // namespace

std::string effects_part(const ReportMatter& matter) {
  const Study& study = matter.results.study();
  if (study.axes.empty()) return {};
  std::vector<std::string> paths;
  for (const StudyAxis& axis : study.axes) paths.push_back(paths_in(axis.path).front());
  const std::vector<std::string> shown = titles(paths);
  std::vector<std::size_t> order(study.axes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return largest_ratio(matter.effects.axes[a]) > largest_ratio(matter.effects.axes[b]);
  });
  std::string html = fmt::format(
      "<h2>What was varied, and its effect</h2><p class='note'>The largest effect comes first. For each "
      "strategy: the iteration time at the slowest value divided by that at the fastest one, with all else "
      "at its mean. The fit minimizes the squared errors of the logarithms, with one value for each entry of "
      "a list, or a parabola over samples. {}</p><div class='wide'><table><tr><th>what</th>",
      explained_of(matter));
  for (const std::string& strategy : study.strategies) html += "<th class='n'>" + escaped(strategy) + "</th>";
  html += "<th>values</th></tr>";
  std::string charts;
  for (const std::size_t i : order) {
    const Effect& effect = matter.effects.axes[i];
    html += fmt::format("<tr><td><code>{}</code></td>", escaped(effect.path));
    for (const std::string& strategy : study.strategies) {
      const auto line = std::find_if(effect.lines.begin(), effect.lines.end(),
                                     [&](const EffectLine& one) { return one.strategy == strategy; });
      const auto ratio = line == effect.lines.end() ? std::nullopt : line->ratio();
      html += fmt::format("<td class='n'>{}</td>", ratio ? fmt::format("{:.2f}", *ratio) : "");
    }
    html += fmt::format("<td>{}</td></tr>", escaped(values_of(study, study.axes[i])));
    charts += fmt::format("<h3>{}</h3>{}", escaped(effect.path), charts_of(effect, matter, shown[i]));
  }
  return html + "</table></div>" + charts;
}

std::string failures_part(const ReportMatter& matter) {
  const std::vector<Run>& runs = matter.results.runs();
  const Study& study = matter.results.study();
  std::string failed;
  std::vector<Missing> impossible;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].outcome) continue;
    if (runs[i].outcome->kind == Outcome::Kind::kFailed) failed += failed_row(matter, i);
    if (runs[i].outcome->kind == Outcome::Kind::kImpossible)
      add_missing(impossible, runs[i].trial.strategy, runs[i].outcome->text, study.label(runs[i].point));
  }
  std::string html = "<h2 id='failed'>Without a result</h2>";
  if (failed.empty() && impossible.empty()) return html + "<p>Nothing failed.</p>";
  html += failed.empty() ? "<p>Nothing failed.</p>"
                         : "<table>" + html_row({"run", "how", "why", "when"}, "th") + failed + "</table>";
  if (impossible.empty()) return html;
  html += "<p>Not possible, and not counted as failures:</p><table>" +
          html_row({"strategy", "points", "why", "such as"}, "th");
  for (const Missing& one : impossible) {
    html += html_row({escaped(one.who), std::to_string(one.points.size()), escaped(one.why),
                      "<code>" + escaped(one.points.front()) + "</code>"});
  }
  return html + "</table>";
}

std::string origin_part(const ReportMatter& matter) {
  const Study& study = matter.results.study();
  std::set<std::string> hosts;
  std::set<std::string> timelines;
  std::string first;
  std::string last;
  double seconds = 0;
  for (std::size_t i = 0; i < matter.results.runs().size(); ++i) {
    const StoredResult* stored_result = matter.sweep.stored_result(i);
    if (stored_result == nullptr) continue;
    hosts.insert(stored_result->host);
    seconds += stored_result->seconds;
    if (first.empty() || stored_result->began < first) first = stored_result->began;
    last = std::max(last, stored_result->began);
    const auto& timeline = stored_result->outcome.row.timeline;
    if (timeline) timelines.insert(*timeline);
  }
  std::string html = "<h2>Where this comes from</h2><table>";
  const auto add = [&](const char* what, const std::string& cell) { html += html_row({what, cell}); };
  add("experiment", "<code>" + escaped(study.file) + "</code>");
  std::vector<std::string> set;
  for (const Value::Member& setting : study.settings.members())
    set.push_back(fmt::format("{}={}", setting.name, label(setting.value)));
  if (!set.empty()) add("with", "<code>" + escaped(fmt::format("{}", fmt::join(set, " "))) + "</code>");
  add("points", fmt::format("{}{}", study.points.size(),
                            study.combination == Combination::kOneAtATime ? ", one value at a time" : ""));
  if (!study.samples.is(Value::Kind::kNull))
    add("samples", "<code>" + escaped(json(study.samples).dump()) + "</code>");
  add("seeds", fmt::format("{}", fmt::join(study.seeds, ", ")));
  add("run by",
      escaped(study.world) +
          (study.world_settings.empty() ? "" : "<br><code>" + escaped(study.world_settings) + "</code>"));
  add("Weir", escaped(study.weir) + "<br><code>" + escaped(matter.sweep.design.program) + "</code>");
  add("topologies", sources_of(study.topologies));
  add("traces", sources_of(study.traces));
  add("computed", fmt::format("on {}, from {} to {}; the runs took {:.4g} s together", listed(hosts),
                              escaped(first), escaped(last), seconds));
  add("experiment in full", "<code>" + escaped(json(study.experiment).dump()) + "</code>");
  std::string links;
  namespace fs = std::filesystem;
  const fs::path beside = fs::absolute(matter.page).parent_path();
  const fs::path way =
      fs::absolute(matter.folder).lexically_normal().lexically_relative(beside.lexically_normal());
  for (const std::string& name : timelines)
    links +=
        fmt::format("<a href='{}'>{}</a> ", link((way / name).lexically_normal().string()), escaped(name));
  if (!links.empty()) add("timelines", links + "<br>chrome://tracing and Perfetto open them");
  return html + "</table>";
}

}  // namespace weir
