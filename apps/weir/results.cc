#include "apps/weir/results.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/weir/version.h"
#include "apps/weir/world.h"
#include "core/base/units_text.h"
#include "core/base/write_fields.h"

namespace weir {
namespace {

using nlohmann::ordered_json;

// Columns of results.csv; those of swept fields stand after kBeforeSweep.
constexpr std::string_view kBeforeSweep[] = {"strategy", "gpu_machines", "cpu_machines"};
constexpr std::string_view kAfterSweep[] = {"seed",
                                            "iteration_ns",
                                            "exposed_communication_ns",
                                            "communication_ns",
                                            "compute_ns",
                                            "goodput_bytes_per_s",
                                            "bound_ns",
                                            "bound_percent",
                                            "plan_bound_ns",
                                            "binding",
                                            "samples_per_s",
                                            "speedup",
                                            "host_memory_bytes"};

constexpr std::size_t kLongestName = 120;

// What a file may be called on any system.
bool is_plain(const std::string& text) {
  return text.size() <= kLongestName && std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                  std::string_view("._=,+-").find(c) != std::string::npos;
         });
}

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n#") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string cell(const ordered_json& row, std::string_view column) {
  const auto value = row.find(std::string(column));
  if (value == row.end()) return {};
  if (value->is_string()) return cell(value->get<std::string>());
  if (value->is_number_float()) return fmt::format("{:.6g}", value->get<double>());
  return value->dump();
}

// A topology or trace that a sweep names is shown by the name.
ordered_json plain(const Setting& setting) {
  const bool whole = setting.value.is(Value::Kind::kObject) || setting.value.is(Value::Kind::kArray);
  return whole ? ordered_json(setting.text) : json(setting.value);
}

// The text as comment lines.
std::string comment(const std::string& text) {
  std::string lines = "# ";
  for (const char c : text) lines += c == '\n' ? std::string("\n# ") : std::string(1, c);
  return lines + "\n";
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

std::string legend() {
  Columns columns;
  Row row;
  fields(columns, row);
  std::string text;
  for (const std::string_view name : kAfterSweep)
    text += comment(fmt::format("{}: {}", name, columns.about(name)));
  return text;
}

}  // namespace

Results::Results(const ExperimentFile& file, Experiment first, const std::string& folder)
    : file_(&file), experiment_(std::move(first)), left_(file.points(), 0) {
  for (std::size_t point = 0; point < file.points(); ++point) {
    for (const std::string& strategy : experiment_.strategies) {
      for (const std::uint64_t seed : experiment_.seeds) {
        Run run{point, {strategy, seed, {}}, {}};
        const auto& drawn = experiment_.timelines;
        if (std::find(drawn.begin(), drawn.end(), strategy) != drawn.end()) {
          run.trial.timeline = fmt::format("{}/{}", folder, timeline_name(run));
        }
        runs_.push_back(std::move(run));
        ++left_[point];
      }
    }
  }
}

std::string Results::timeline_name(const Run& run) const {
  std::string point = label(file_->point(run.point));
  std::replace(point.begin(), point.end(), ' ', ',');
  if (point.empty() || !is_plain(point)) point = fmt::format("point{}", run.point);
  const std::string seed = experiment_.seeds.size() > 1 ? fmt::format("-seed{}", run.trial.seed) : "";
  return fmt::format("timeline-{}-{}{}.json", run.trial.strategy, point, seed);
}

std::string Results::name(const Run& run) const {
  std::string name = run.trial.strategy;
  if (const std::string at = label(file_->point(run.point)); !at.empty()) name += " at " + at;
  if (experiment_.seeds.size() > 1) name += fmt::format(", seed {}", run.trial.seed);
  return name;
}

void Results::add(std::size_t index, Outcome outcome) {
  Run& run = runs_[index];
  WEIR_CHECK(!run.outcome, index);
  run.outcome = std::move(outcome);
  ++ended_;
  if (--left_[run.point] == 0) compare(run.point);
}

bool Results::complete(std::size_t point) const { return left_[point] == 0; }

std::size_t Results::count(Outcome::Kind kind) const {
  return static_cast<std::size_t>(std::count_if(runs_.begin(), runs_.end(), [kind](const Run& run) {
    return run.outcome && run.outcome->kind == kind;
  }));
}

// Speed-ups over the baseline with the same seed.
void Results::compare(std::size_t point) {
  const auto begin = runs_.begin() + static_cast<std::ptrdiff_t>(point * runs_per_point());
  const auto end = begin + static_cast<std::ptrdiff_t>(runs_per_point());
  for (auto run = begin; run != end; ++run) {
    const auto baseline = std::find_if(begin, end, [&](const Run& other) {
      return other.trial.strategy == experiment_.baseline && other.trial.seed == run->trial.seed &&
             other.outcome->kind == Outcome::Kind::kRow;
    });
    Row& row = run->outcome->row;
    if (baseline == end || row.iteration_ns == 0) continue;
    row.speedup =
        static_cast<double>(baseline->outcome->row.iteration_ns) / static_cast<double>(row.iteration_ns);
  }
}

std::string Results::csv() const {
  std::string text = comment(fmt::format("Weir {}, simulated by {}", kVersion, world_name()));
  if (!experiment_.question.empty()) text += comment(experiment_.question);
  text += comment(fmt::format("topology {}, model {} ({} bytes)", experiment_.topology.name,
                              experiment_.trace.name, size(experiment_.trace).count()));
  text +=
      comment("results.json holds the whole configuration. Means over the measured iterations:") + legend();
  std::vector<std::string> line;
  for (const std::string_view column : kBeforeSweep) line.emplace_back(column);
  for (const Axis& axis : file_->axes()) line.push_back(cell(axis.path));
  for (const std::string_view column : kAfterSweep) line.emplace_back(column);
  text += fmt::format("{}\n", fmt::join(line, ","));
  for (const Run& run : runs_) {
    if (!run.outcome || run.outcome->kind != Outcome::Kind::kRow) continue;
    const ordered_json row = write_fields(run.outcome->row);
    line.clear();
    for (const std::string_view column : kBeforeSweep) line.push_back(cell(row, column));
    for (const Setting& setting : file_->point(run.point)) line.push_back(cell(setting.text));
    for (const std::string_view column : kAfterSweep) line.push_back(cell(row, column));
    text += fmt::format("{}\n", fmt::join(line, ","));
  }
  return text;
}

std::string Results::json() const {
  ordered_json all = {{"weir", kVersion},
                      {"question", experiment_.question},
                      {"world", {{"name", world_name()}, {"settings", world_settings()}}},
                      {"experiment", write_experiment(experiment_)},
                      {"sweep", ordered_json::object()},
                      {"finished", ended_ == runs_.size()},
                      {"rows", ordered_json::array()},
                      {"impossible", ordered_json::array()},
                      {"failed", ordered_json::array()}};
  for (const Axis& axis : file_->axes()) {
    ordered_json values = ordered_json::array();
    for (const Setting& choice : axis.choices) values.push_back(plain(choice));
    all["sweep"][axis.path] = std::move(values);
  }
  for (const Run& run : runs_) {
    if (!run.outcome) continue;
    ordered_json entry = {{"point", run.point}, {"values", ordered_json::object()}};
    for (const Setting& setting : file_->point(run.point)) entry["values"][setting.path] = plain(setting);
    if (run.outcome->kind == Outcome::Kind::kRow) {
      entry.update(write_fields(run.outcome->row));
      all["rows"].push_back(std::move(entry));
      continue;
    }
    entry.update({{"strategy", run.trial.strategy}, {"seed", run.trial.seed}, {"why", run.outcome->text}});
    all[run.outcome->kind == Outcome::Kind::kFailed ? "failed" : "impossible"].push_back(std::move(entry));
  }
  return all.dump(2) + "\n";
}

}  // namespace weir
