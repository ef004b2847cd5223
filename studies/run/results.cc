#include "studies/run/results.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/units_text.h"
#include "core/document/document.h"
#include "core/document/spelling.h"
#include "core/document/write_fields.h"
#include "core/strategies/strategy.h"
#include "studies/output/csv.h"

namespace weir {
namespace {

using nlohmann::ordered_json;

// Columns of results.csv; those of swept fields come after kBeforeSweep, those of other jobs last.
constexpr std::string_view kBeforeSweep[] = {"strategy", "gpu_machines", "cpu_machines"};
constexpr std::string_view kOfRealRuns[] = {"link_rate_bytes_per_s", "link_rate_difference", "predicted_ns",
                                            "checked_elements"};
constexpr std::string_view kAfterSweep[] = {"seed",
                                            "iteration_ns",
                                            "exposed_communication_ns",
                                            "communication_ns",
                                            "compute_ns",
                                            "goodput_bytes_per_s",
                                            "goodput_bound_bytes_per_s",
                                            "bound_ns",
                                            "bound_percent",
                                            "plan_bound_ns",
                                            "binding",
                                            "first_ns",
                                            "first_bound_ns",
                                            "first_plan_bound_ns",
                                            "label",
                                            "label_reason",
                                            "samples_per_s",
                                            "speedup",
                                            "host_memory_bytes"};

constexpr std::size_t kLongestName = 120;

// Whether a file may have this name on any system.
bool is_plain(const std::string& text) {
  return text.size() <= kLongestName && std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                  std::string_view("._=,+-").find(c) != std::string::npos;
         });
}

// A member of the outermost object, on one compact line. Names from the command line, such as those of files,
// may not be valid in JSON; json_text() handles that.
std::string member(std::string_view name, const ordered_json& value) {
  return fmt::format("  \"{}\": {},\n", name, json_text(value));
}

// A member of the outermost object, with each entry on a line of its own.
std::string list(std::string_view name, char open, const std::vector<std::string>& entries, char close) {
  const std::string_view end = entries.empty() ? "" : "\n  ";
  std::string text = fmt::format("  \"{}\": {}", name, open);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    text += fmt::format("{}\n    {}", i > 0 ? "," : "", entries[i]);
  }
  return text + fmt::format("{}{}", end, close);
}

std::vector<std::string> by_hash(const std::vector<Source>& sources) {
  std::vector<std::string> entries;
  for (const Source& part : sources) entries.push_back(fmt::format("\"{}\": {}", part.hash, part.text));
  return entries;
}

// How plots should draw strategies that have a look of their own: colour, marker, line.
ordered_json looks(const std::vector<std::string>& strategies) {
  ordered_json looks = ordered_json::object();
  for (const std::string& name : strategies) {
    const auto strategy = strategy_named(name);
    if (!strategy || (*strategy)->look.color.empty()) continue;
    const Look& look = (*strategy)->look;
    looks[name] = {look.color, look.marker, look.line};
  }
  return looks;
}

// The text as comment lines.
std::string comment(const std::string& text) {
  std::string lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines += fmt::format("# {}\n", on_one_line(line));
  return lines;
}

class Columns {
 public:
  template <class T>
  void required(std::string_view name, T& /*field*/, std::string_view about) {
    about_[std::string(name)] = about;
  }
  template <class T>
  void optional(std::string_view name, T& field, std::string_view about) {
    required(name, field, about);
  }
  const std::string& about(std::string_view name) { return about_[std::string(name)]; }

 private:
  std::map<std::string, std::string> about_;
};

std::vector<std::string_view> after_sweep(bool real) {
  std::vector<std::string_view> columns(std::begin(kAfterSweep), std::end(kAfterSweep));
  if (real) columns.insert(columns.end(), std::begin(kOfRealRuns), std::end(kOfRealRuns));
  return columns;
}

// The names of the other jobs beside any of the runs.
std::vector<std::string> other_jobs(const std::vector<Run>& runs) {
  std::vector<std::string> names;
  for (const Run& run : runs) {
    if (!run.outcome) continue;
    for (const OtherJobRow& job : run.outcome->row.other_jobs) {
      if (std::find(names.begin(), names.end(), job.name) == names.end()) names.push_back(job.name);
    }
  }
  return names;
}

// The row's cells for these other jobs.
std::vector<std::string> cells(const Row& row, const std::vector<std::string>& others) {
  std::vector<std::string> cells;
  if (!others.empty()) cells.push_back(row.alone_ns ? std::to_string(*row.alone_ns) : "");
  for (const std::string& name : others) {
    const auto job = std::find_if(row.other_jobs.begin(), row.other_jobs.end(),
                                  [&](const OtherJobRow& other) { return other.name == name; });
    const bool there = job != row.other_jobs.end();
    cells.push_back(there && job->iteration_ns ? std::to_string(*job->iteration_ns) : "");
    cells.push_back(there ? std::to_string(job->alone_ns) : "");
  }
  return cells;
}

std::string legend(bool real, bool others) {
  Columns columns;
  Row row;
  fields(columns, row);
  std::string text;
  for (const std::string_view name : after_sweep(real))
    text += comment(fmt::format("{}: {}", name, columns.about(name)));
  if (!others) return text;
  text += comment(fmt::format("alone_ns: {}", columns.about("alone_ns")));
  Columns of_job;
  OtherJobRow job;
  fields(of_job, job);
  for (const char* name : {"iteration_ns", "alone_ns"})
    text += comment(fmt::format("NAME {}: for the other job called NAME: {}", name, of_job.about(name)));
  return text;
}

}  // namespace

Outcome run_one(const ExperimentFile& file, const Run& run, const World& world) {
  return guarded([&] {
    const auto experiment = file.experiment(file.point(run.point));
    if (!experiment) return Outcome{Outcome::Kind::kFailed, {}, experiment.error().text};
    return weir::run(run.trial, *experiment, world);
  });
}

Results::Results(Study study, const std::string& folder, const std::vector<std::string>& keys)
    : study_(std::move(study)), left_(study_.points.size(), 0) {
  for (std::size_t point = 0; point < study_.points.size(); ++point) {
    for (const std::string& strategy : study_.strategies) {
      for (const std::uint64_t seed : study_.seeds) {
        Run run{point, {.strategy = strategy, .seed = seed}, {}};
        const std::string key = keys.empty() ? "" : "-" + keys[runs_.size()];
        if (draws(run))
          run.trial.timeline = fmt::format("{}/timeline-{}{}.json", folder, file_name(run), key);
        runs_.push_back(std::move(run));
        ++left_[point];
      }
    }
  }
}

void Results::keep_records(const std::string& folder) {
  for (Run& run : runs_) {
    run.trial.record = fmt::format("{}/record-{}.record", folder, file_name(run));
    if (!study_.simulated)
      run.trial.prediction = fmt::format("{}/prediction-{}.record", folder, file_name(run));
    run.trial.point = study_.label(run.point);
  }
}

bool Results::draws(const Run& run) const {
  const std::vector<std::string>& drawn = study_.timelines;
  if (std::find(drawn.begin(), drawn.end(), run.trial.strategy) == drawn.end()) return false;
  const bool last = run.point + 1 == study_.points.size() && run.trial.seed == study_.seeds.front();
  return last || study_.timeline_points == TimelinePoints::kAll;
}

std::string Results::file_name(const Run& run) const {
  std::string point = study_.label(run.point);
  std::replace(point.begin(), point.end(), ' ', ',');
  if (point.empty() || !is_plain(point)) point = fmt::format("point{}", run.point);
  const std::string seed = study_.seeds.size() > 1 ? fmt::format("-seed{}", run.trial.seed) : "";
  std::string strategy = run.trial.strategy;
  std::replace(strategy.begin(), strategy.end(), ' ', '_');
  if (!is_plain(strategy)) {
    const std::vector<std::string>& names = study_.strategies;
    const auto at = std::find(names.begin(), names.end(), run.trial.strategy);
    strategy = fmt::format("strategy{}", at - names.begin());
  }
  return fmt::format("{}-{}{}", strategy, point, seed);
}

std::string Results::name(const Run& run) const {
  std::string name = run.trial.strategy;
  if (const std::string at = study_.label(run.point); !at.empty()) name += " at " + at;
  if (study_.seeds.size() > 1) name += fmt::format(", seed {}", run.trial.seed);
  return name;
}

void Results::add(std::size_t index, Outcome outcome) {
  Run& run = runs_[index];
  WEIR_CHECK(!run.outcome, index);
  run.outcome = std::move(outcome);
  ++ended_;
  --left_[run.point];
  compare(run.point);
}

bool Results::complete(std::size_t point) const { return left_[point] == 0; }

std::size_t Results::count(Outcome::Kind kind) const {
  return static_cast<std::size_t>(std::count_if(runs_.begin(), runs_.end(), [kind](const Run& run) {
    return run.outcome && run.outcome->kind == kind;
  }));
}

// Computes speed-ups of the ended runs over the baseline with the same seed.
void Results::compare(std::size_t point) {
  const auto begin = runs_.begin() + static_cast<std::ptrdiff_t>(point * study_.runs_per_point());
  const auto end = begin + static_cast<std::ptrdiff_t>(study_.runs_per_point());
  const auto has_row = [](const Run& run) { return run.outcome && run.outcome->kind == Outcome::Kind::kRow; };
  for (auto run = begin; run != end; ++run) {
    const auto baseline = std::find_if(begin, end, [&](const Run& other) {
      return other.trial.strategy == study_.baseline && other.trial.seed == run->trial.seed && has_row(other);
    });
    if (baseline == end || !has_row(*run) || run->outcome->row.iteration_ns == 0) continue;
    Row& row = run->outcome->row;
    row.speedup =
        static_cast<double>(baseline->outcome->row.iteration_ns) / static_cast<double>(row.iteration_ns);
  }
}

std::string Results::csv() const {
  const std::vector<std::string> others = other_jobs(runs_);
  std::string text = comment(fmt::format("Weir {}, run by {}", study_.weir, study_.world));
  std::vector<std::string> set;
  for (const Value::Member& setting : study_.settings.members())
    set.push_back(fmt::format("{}={}", setting.name, label(setting.value)));
  const std::string settings = fmt::format("{}", fmt::join(set, " "));
  text += comment(fmt::format("{}{}{}", study_.file, settings.empty() ? "" : " with ", settings));
  if (!study_.question.empty()) text += comment(study_.question);
  text += comment(fmt::format("topology {}; model {}; speed-ups over {}", names(study_.topologies),
                              names(study_.traces), study_.baseline));
  if (ended_ < runs_.size())
    text += comment(fmt::format("unfinished: {} of {} runs have ended", ended_, runs_.size()));
  text += comment("results.json holds the whole configuration. Means over the measured iterations:") +
          legend(!study_.simulated, !others.empty());
  std::vector<std::string> line;
  for (const std::string_view column : kBeforeSweep) line.emplace_back(column);
  for (const StudyAxis& axis : study_.axes) line.push_back(cell(axis.path));
  const std::vector<std::string_view> after = after_sweep(!study_.simulated);
  line.insert(line.end(), after.begin(), after.end());
  if (!others.empty()) line.emplace_back("alone_ns");
  for (const std::string& name : others) {
    for (const char* column : {"iteration_ns", "alone_ns"})
      line.push_back(cell(fmt::format("{} {}", name, column)));
  }
  text += fmt::format("{}\n", fmt::join(line, ","));
  for (const Run& run : runs_) {
    if (!run.outcome || run.outcome->kind != Outcome::Kind::kRow) continue;
    const ordered_json row = write_fields(run.outcome->row);
    line.clear();
    for (const std::string_view column : kBeforeSweep) line.push_back(cell(row, column));
    for (const Value& value : study_.points[run.point].values) line.push_back(cell(label(value)));
    for (const std::string_view column : after) line.push_back(cell(row, column));
    for (std::string& own : cells(run.outcome->row, others)) line.push_back(std::move(own));
    text += fmt::format("{}\n", fmt::join(line, ","));
  }
  return text;
}

std::string Results::json() const {
  ordered_json sweep = ordered_json::object();
  for (const StudyAxis& axis : study_.axes) {
    sweep[axis.path] = ordered_json::array();
    for (const Value& choice : axis.choices) sweep[axis.path].push_back(weir::json(choice));
  }
  std::vector<std::string> rows;
  std::vector<std::string> impossible;
  std::vector<std::string> failed;
  for (const Run& run : runs_) {
    if (!run.outcome) continue;
    const StudyPoint& point = study_.points[run.point];
    ordered_json entry = {{"point", run.point},
                          {"topology", study_.topologies[point.topology].hash},
                          {"trace", study_.traces[point.trace].hash},
                          {"values", ordered_json::object()}};
    for (std::size_t i = 0; i < study_.axes.size(); ++i)
      entry["values"][study_.axes[i].path] = weir::json(point.values[i]);
    if (run.outcome->kind == Outcome::Kind::kRow) {
      entry.update(write_fields(run.outcome->row));
      rows.push_back(json_text(entry));
      continue;
    }
    entry.update({{"strategy", run.trial.strategy}, {"seed", run.trial.seed}, {"why", run.outcome->text}});
    (run.outcome->kind == Outcome::Kind::kFailed ? failed : impossible).push_back(json_text(entry));
  }
  std::string text = "{\n" + member("weir", study_.weir) + member("experiment_file", study_.file) +
                     member("settings", weir::json(study_.settings)) + member("question", study_.question) +
                     member("world", {{"name", study_.world}, {"settings", study_.world_settings}}) +
                     member("experiment", weir::json(study_.experiment)) + member("sweep", sweep) +
                     member("looks", looks(study_.strategies)) + member("finished", ended_ == runs_.size());
  text += list("topologies", '{', by_hash(study_.topologies), '}') + ",\n";
  text += list("traces", '{', by_hash(study_.traces), '}') + ",\n";
  text += list("rows", '[', rows, ']') + ",\n";
  text += list("impossible", '[', impossible, ']') + ",\n";
  return text + list("failed", '[', failed, ']') + "\n}\n";
}

}  // namespace weir
