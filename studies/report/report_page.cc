#include "studies/report/report_page.h"

#include <fmt/format.h>

#include <filesystem>

#include "studies/report/chart.h"
#include "studies/report/report_parts.h"

namespace weir {
namespace {

constexpr const char* kStyle = R"(
body{font:14px/1.45 system-ui,sans-serif;color:#222;max-width:1180px;margin:24px auto;padding:0 20px}
h1{font-size:22px;margin:0 0 4px}h2{font-size:17px;margin:34px 0 8px;border-bottom:1px solid #ddd;padding-bottom:3px}
h3{font-size:14px;margin:18px 0 2px}p{margin:4px 0 10px}.note{color:#666}.warn{color:#B00020;font-weight:600}
table{border-collapse:collapse;margin:6px 0 12px}td,th{padding:3px 10px 3px 0;text-align:left;vertical-align:top}
th{border-bottom:1px solid #bbb;font-weight:600}td.n,th.n{text-align:right}tr:nth-child(even) td{background:#fafafa}
code{overflow-wrap:anywhere}code,pre{font:12px/1.4 ui-monospace,monospace}pre{white-space:pre-wrap;background:#f5f5f5;padding:6px 8px;margin:2px 0}
.swatch{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:6px}
.charts{display:flex;flex-wrap:wrap;gap:10px 24px}.legend span{margin-right:16px;white-space:nowrap}
.chart text{font:10.5px system-ui,sans-serif;fill:#444}.chart .title{font-size:11.5px;fill:#222}
.chart .grid{stroke:#e6e6e6}.chart .tick{stroke:#888}
#runs th{cursor:pointer}.wide{overflow-x:auto}
)";

// Sorts the table of runs by the column whose title is clicked.
constexpr const char* kScript = R"(
document.querySelectorAll('#runs th').forEach(function(head,column){var up=1;head.addEventListener('click',function(){
var body=document.querySelector('#runs tbody');var rows=Array.from(body.rows);up=-up;
rows.sort(function(a,b){var x=a.cells[column],y=b.cells[column];var p=parseFloat(x.dataset.v),q=parseFloat(y.dataset.v);
return up*(isNaN(p)||isNaN(q)?x.textContent.localeCompare(y.textContent):q-p)});
rows.forEach(function(row){body.appendChild(row)})})});
)";

std::string state(const ReportMatter& matter) {
  const std::size_t all = matter.results.runs().size();
  const std::size_t ended = matter.results.ended();
  std::string text =
      ended == all
          ? fmt::format("All {} runs have ended", all)
          : fmt::format("<span class='warn'>Unfinished: {} of {} runs have ended</span>", ended, all);
  text += fmt::format(", at {} points", matter.results.study().points.size());
  const std::size_t failed = matter.results.count(Outcome::Kind::kFailed);
  if (failed > 0) text += fmt::format("; <a class='warn' href='#failed'>{} failed</a>", failed);
  return fmt::format(
      "<p>{}. {} on {}, speed-ups over {}.</p>", text, escaped(names(matter.results.study().traces)),
      escaped(names(matter.results.study().topologies)), escaped(matter.results.study().baseline));
}

std::string legend(const Study& study) {
  std::string text = "<p class='legend'>";
  for (const std::string& strategy : study.strategies) {
    text += fmt::format("<span><i class='swatch' style='background:{}'></i>{}</span>",
                        color_of(strategy, study.strategies), escaped(strategy));
  }
  return text + "</p>";
}

}  // namespace

std::string report_page(const SweepFolder& sweep, const std::string& folder, const std::string& page) {
  const Results results = sweep.results(folder);
  const Study& study = results.study();
  const std::vector<StrategySummary> summaries = weir::summaries(results);
  const Effects effects = weir::effects(results);
  const ReportMatter matter{sweep, folder, page, results, summaries, effects};
  const std::string title =
      study.question.empty() ? std::filesystem::path(study.file).filename().string() : study.question;
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>{}</title><style>{}</style></head>"
      "<body>\n<h1>{}</h1>\n",
      escaped(title), kStyle, escaped(title));
  html += state(matter) + legend(study);
  for (const auto part :
       {answer_part, strategies_part, effects_part, binding_part, failures_part, origin_part, runs_part}) {
    html += part(matter) + "\n";
  }
  return html + fmt::format("<script>{}</script></body></html>\n", kScript);
}

}  // namespace weir
