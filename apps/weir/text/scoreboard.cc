#include "apps/weir/text/scoreboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "apps/weir/text/output.h"
#include "core/base/units_text.h"

namespace weir {
namespace {

using Side = Table::Column::Side;

// Whether other jobs run beside the experiment's own at some point.
bool has_others(const Study& study) {
  const Value* jobs = study.experiment.find("other_jobs");
  if (jobs != nullptr && jobs->is(Value::Kind::kArray) && !jobs->elements().empty()) return true;
  return std::any_of(study.axes.begin(), study.axes.end(),
                     [](const StudyAxis& axis) { return axis.path == "other_jobs"; });
}

// "neighbour 251 ms (167 ms alone)".
std::string others(const Row& row) {
  std::string text;
  for (const OtherJobRow& job : row.other_jobs) {
    const std::string beside = job.iteration_ns ? rounded(Duration(*job.iteration_ns)) : "-";
    text += fmt::format("{}{} {} ({} alone)", text.empty() ? "" : ", ", job.name, beside,
                        rounded(Duration(job.alone_ns)));
  }
  return text.empty() ? "-" : text;
}

bool several_seeds(const Results& results) {
  const Run& first = results.runs().front();
  for (const Run& run : results.runs()) {
    if (run.trial.seed != first.trial.seed) return true;
  }
  return false;
}

Table table_for(const ExperimentFile& file, const Results& results, bool seeds) {
  std::size_t strategy = 0;
  for (const Run& run : results.runs()) strategy = std::max(strategy, run.trial.strategy.size());
  std::vector<Table::Column> columns = {{"strategy", Side::kLeft, strategy}};
  std::vector<std::string> paths;
  for (const Axis& axis : file.axes()) paths.push_back(paths_in(axis.path).front());
  const std::vector<std::string> swept = titles(paths);
  for (std::size_t i = 0; i < swept.size(); ++i) {
    std::size_t width = 0;
    for (const Setting& choice : file.axes()[i].choices) width = std::max(width, choice.text.size());
    columns.push_back({swept[i], Side::kRight, width});
  }
  if (seeds) columns.push_back({"seed", Side::kRight, 4});
  constexpr std::size_t kQuantity = 10;  // "1234.5 ms"
  for (const char* title : {"iteration", "exposed", "goodput", "bound"}) {
    columns.push_back({title, Side::kRight, kQuantity});
  }
  columns.push_back({"of bound", Side::kRight, 8});
  columns.push_back({"speed-up", Side::kRight, 8});
  if (has_others(results.study())) {
    columns.push_back({"alone", Side::kRight, kQuantity});
    constexpr std::size_t kJob = 41;  // "neighbour 1234.5 ms (1234.5 ms alone)"
    columns.push_back({"other jobs", Side::kLeft, kJob});
  }
  constexpr std::size_t kLabel = 15;  // "vendor constant"
  if (results.study().simulated) columns.push_back({"label", Side::kLeft, kLabel});
  columns.push_back({"binding", Side::kLeft, 0});
  return Table(std::move(columns));
}

}  // namespace

Scoreboard::Scoreboard(const ExperimentFile& file, const Results& results)
    : file_(file),
      results_(results),
      seeds_(several_seeds(results)),
      progress_(results.runs().size()),
      table_(table_for(file, results, seeds_)) {}

void Scoreboard::update() {
  progress_.clear();
  for (; next_ < file_.points() && results_.complete(next_); ++next_) show(next_);
  progress_.show(results_.ended());
}

void Scoreboard::finish() {
  progress_.clear();
  for (; next_ < file_.points(); ++next_) show(next_);
}

void Scoreboard::show(std::size_t point) {
  const std::size_t count = results_.study().runs_per_point();
  for (std::size_t i = point * count; i < (point + 1) * count; ++i) {
    const Run& run = results_.runs()[i];
    if (!run.outcome) continue;
    switch (run.outcome->kind) {
      case Outcome::Kind::kRow:
        if (!titled_) print("{}", table_.header());
        titled_ = true;
        print("{}", table_.line(cells(run)));
        break;
      case Outcome::Kind::kImpossible: {
        const std::string at = label(file_.point(point));
        print("{}: {}{}{}\n", run.trial.strategy, run.outcome->text, at.empty() ? "" : " at ", at);
        break;
      }
      case Outcome::Kind::kFailed:
        print_error("{} failed: {}\n", results_.name(run), run.outcome->text);
        break;
    }
  }
  std::fflush(stdout);
}

Table::Cells Scoreboard::cells(const Run& run) const {
  const Row& row = run.outcome->row;
  Table::Cells cells = {row.strategy};
  for (const Setting& setting : file_.point(run.point)) cells.push_back(setting.text);
  if (seeds_) cells.push_back(std::to_string(row.seed));
  cells.push_back(rounded(Duration(row.iteration_ns)));
  cells.push_back(rounded(Duration(row.exposed_communication_ns)));
  cells.push_back(row.goodput_bytes_per_s ? rounded(BytesPerSecond(*row.goodput_bytes_per_s)) : "-");
  cells.push_back(rounded(Duration(row.bound_ns)));
  cells.push_back(row.bound_percent ? fmt::format("{:.1f} %", *row.bound_percent) : "-");
  cells.push_back(row.speedup ? fmt::format("{:.2f}x", *row.speedup) : "-");
  if (has_others(results_.study())) {
    cells.push_back(row.alone_ns ? rounded(Duration(*row.alone_ns)) : "-");
    cells.push_back(others(row));
  }
  if (results_.study().simulated) cells.push_back(row.label.value_or("-"));
  cells.push_back(row.binding);
  return cells;
}

}  // namespace weir
