#include "core/calibrate/real_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "core/experiment/experiment_file.h"
#include "core/run/world_names.h"

namespace weir {

std::string_view no_measurement(std::string_view world) {
  if (world == kSimGridWorld || world == kFluidWorld)
    return "these runs were simulated, but a calibration needs real ones (weir run --on lab)";
  if (world == kLocalWorld)
    return "these runs were on one host, without links between machines, but a calibration needs runs in the "
           "lab or on a cluster (weir run --on lab)";
  return "";
}

namespace {

using Json = nlohmann::ordered_json;

std::string without_end(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

// A number, with or without quotes.
std::optional<double> number(const Value& value) {
  if (value.is(Value::Kind::kInteger) || value.is(Value::Kind::kDouble)) return value.as_double();
  if (!value.is(Value::Kind::kString)) return std::nullopt;
  const std::string& text = value.as_string();
  double read = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(read) : std::nullopt;
}

// The time of an iteration.
std::optional<Duration> nanoseconds(const Value& value) {
  constexpr double kLongest = 1e15;
  const auto time = number(value);
  return time && *time >= 1 && *time <= kLongest ? std::optional(Duration(std::llround(*time)))
                                                 : std::nullopt;
}

std::string no_nanoseconds(const Value* value) {
  return "expected a number of nanoseconds from 1 to 1e15" +
         (value == nullptr ? std::string() : ", not " + description(*value));
}

// A setting from its text: JSON, or else a string. Names of files are relative to the experiment.
Setting setting(const std::string& path, const std::string& text) {
  const auto parsed = parse_document(text, path);
  Value value = parsed ? *parsed : Value(text);
  value.written_at("");
  return {path, std::move(value), text};
}

/// Reads runs from rows. Many rows are of one experiment, so each combination of values is read only once.
class Rows {
 public:
  Rows(std::string source, const RowsOf& of) : source_(std::move(source)), of_(of) {}

  /// A setting for all rows, "path=value" as with --set.
  Result<void> set_for_all(const std::string& text) {
    auto parsed = parse_setting(text);
    if (!parsed) return failure(source_ + ": " + parsed.error().text);
    common_.push_back(std::move(*parsed));
    return {};
  }

  /// Whether --set gave the column's sweep. Names of files in it are relative to where weir run was started.
  bool swept_by_option(const std::string& column) const {
    return std::any_of(common_.begin(), common_.end(), [&](const Setting& setting) {
      return setting.path == "sweep" || setting.path == "sweep." + column;
    });
  }

  Result<void> add(const std::string& where, const std::string& strategy, const Value& iteration_ns,
                   const std::vector<Setting>& settings) {
    const auto time = nanoseconds(iteration_ns);
    if (!time) return failure(fmt::format("{}: iteration_ns: {}", where, no_nanoseconds(&iteration_ns)));
    auto experiment = experiment_with(where, settings);
    if (!experiment) return tl::unexpected(experiment.error());
    if (const auto known = contender(**experiment, strategy); !known)
      return failure(where + ": strategy: " + known.error().text);
    all_.runs.push_back({source_, std::move(*experiment), strategy, *time});
    return {};
  }

  RealRuns& all() { return all_; }

 private:
  Result<std::shared_ptr<const Experiment>> experiment_with(const std::string& where,
                                                            const std::vector<Setting>& settings) {
    if (of_.experiment.empty())
      return failure(where + ": the file does not name the experiment; pass it with --experiment");
    std::vector<Setting> all = common_;
    all.insert(all.end(), settings.begin(), settings.end());
    const std::string name = label(all);
    const auto known = experiments_.find(name);
    if (known != experiments_.end()) return known->second;
    const auto file = ExperimentFile::read(of_.experiment, all);
    if (!file) return failure(where + ": " + file.error().text);
    auto experiment = file->experiment({});
    if (!experiment) return failure(where + ": " + experiment.error().text);
    auto kept = std::make_shared<const Experiment>(std::move(*experiment));
    experiments_.emplace(name, kept);
    return kept;
  }

  std::string source_;
  RowsOf of_;
  std::vector<Setting> common_;
  std::map<std::string, std::shared_ptr<const Experiment>> experiments_;
  RealRuns all_;
};

// How experiments/h200/measure.py describes a cluster in a row: "4 machines of 1 GPU, links of 10Gbps".
Result<std::vector<Setting>> settings_of_case(const std::string& where, const std::string& text) {
  constexpr std::size_t kLongest = 200;  // std::regex uses stack for each character
  static const std::regex form(R"((\d+) machines? of (\d+) GPUs?, links of (\S+))");
  std::smatch found;
  if (text.size() > kLongest || !std::regex_match(text, found, form))
    return failure(
        fmt::format("{}: case: expected '4 machines of 1 GPU, links of 10Gbps', not '{}'", where, text));
  return std::vector<Setting>{setting("topology.groups.gpu.count", found[1]),
                              setting("topology.groups.gpu.gpus.0.count", found[2]),
                              setting("topology.groups.gpu.nics.0.rate", found[3]),
                              setting("topology.groups.cpu.nics.0.rate", found[3])};
}

Result<std::vector<Setting>> settings_of(const std::string& where, const Value& row) {
  std::vector<Setting> settings;
  for (const Value::Member& member : row.members()) {
    const std::string text = label(member.value);
    if (member.name == "case") {
      auto all = settings_of_case(where, text);
      if (!all) return all;
      settings.insert(settings.end(), all->begin(), all->end());
    } else if (member.name == "rate") {  // of all NICs
      settings.push_back(setting("topology.groups.gpu.nics.0.rate", text));
      settings.push_back(setting("topology.groups.cpu.nics.0.rate", text));
    } else if (member.name == "trace" || member.name.find('.') != std::string::npos) {
      settings.push_back(setting(member.name, text));
    }
  }
  return settings;
}

// Takes the settings from words such as "--pace 1.05 --set partition_size=2MB".
Result<void> take_settings(Rows& rows, const std::string& text) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word.find('=') == std::string::npos) continue;
    if (auto taken = rows.set_for_all(word); !taken) return taken;
  }
  return {};
}

// The cells of a CSV line, which may be quoted.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      all.back() += line[i++];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      all.emplace_back();
    } else {
      all.back() += line[i];
    }
  }
  return all;
}

// The lines above the rows of results.csv.
struct CsvHead {
  std::string experiment;           // the file
  std::string settings;             // "path=value path=value"
  std::string_view no_measurement;  // why its runs cannot be used
  std::vector<std::string> columns;
  /// The number of the column; columns.size() if it is missing.
  std::size_t column(std::string_view name) const {
    return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin());
  }
};

CsvHead csv_head(std::istringstream& lines, int& at) {
  CsvHead head;
  for (std::string line; head.columns.empty() && std::getline(lines, line);) {
    ++at;
    line = without_end(line);
    if (!line.starts_with("# ")) {
      if (!line.empty()) head.columns = cells(line);
      continue;
    }
    const std::size_t by = line.rfind("run by ");
    if (at == 1 && by != std::string::npos) head.no_measurement = no_measurement(line.substr(by + 7));
    if (at != 2) continue;
    const std::size_t with = line.find(" with ");
    head.experiment = line.substr(2, with == std::string::npos ? with : with - 2);
    if (with != std::string::npos) head.settings = line.substr(with + 6);
  }
  return head;
}

// The experiment of a row of results.json, with the row's values.
Result<std::shared_ptr<const Experiment>> experiment_of(const Value& document, const Value& row,
                                                        const std::string& source) {
  Value whole = *document.find("experiment");
  for (const char* part : {"topology", "trace"}) {
    const Value* hash = row.find(part);
    const std::string list = part == std::string("trace") ? "traces" : "topologies";
    const Value* all = document.find(list);
    const Value* found = all == nullptr || hash == nullptr || !hash->is(Value::Kind::kString)
                             ? nullptr
                             : all->find(hash->as_string());
    if (found == nullptr)
      return failure(complaint(row, part, fmt::format("expected the hash of one of '{}'", list)));
    if (const auto set = whole.set(part, *found); !set) return tl::unexpected(set.error());
  }
  std::vector<Setting> settings;
  if (const Value* values = row.find("values"); values != nullptr && values->is(Value::Kind::kObject)) {
    for (const Value::Member& value : values->members()) {
      for (const std::string& path : paths_in(value.name)) {
        const std::string head = path.substr(0, path.find('.'));
        if (head != "topology" && head != "trace")
          settings.push_back({path, value.value, label(value.value)});
      }
    }
  }
  if (const auto wrong = put(whole, settings); !wrong.empty()) return tl::unexpected(wrong.front());
  Json text = json(whole);
  text.erase("published");
  const auto file = ExperimentFile::parse(text.dump(), source);
  if (!file) return tl::unexpected(file.error());
  auto experiment = file->experiment({});
  if (!experiment) return tl::unexpected(experiment.error());
  return std::make_shared<const Experiment>(std::move(*experiment));
}

}  // namespace

bool is_results(const Value& document) {
  return document.find("experiment_file") != nullptr && document.find("rows") != nullptr &&
         document.find("experiment") != nullptr;
}

Result<RealRuns> read_results(const Value& document, const std::string& source) {
  const Value* world = document.find("world");
  const Value* name = world == nullptr ? nullptr : world->find("name");
  if (name == nullptr || !name->is(Value::Kind::kString)) {
    return failure(complaint(world == nullptr ? document : *world, "world.name",
                             "expected the world that ran it, such as 'lab' or 'cluster'"));
  }
  if (const std::string_view why = no_measurement(name->as_string()); !why.empty())
    return failure(complaint(*name, "world.name", why));
  const Value& rows = *document.find("rows");
  if (!rows.is(Value::Kind::kArray)) return failure(complaint(rows, "rows", "expected an array"));
  RealRuns all;
  std::map<std::string, std::shared_ptr<const Experiment>> known;
  std::size_t index = 0;
  for (const Value& row : rows.elements()) {
    const std::string path = joined("rows", index++);
    const Value* strategy = row.find("strategy");
    if (strategy == nullptr || !strategy->is(Value::Kind::kString))
      return failure(complaint(strategy == nullptr ? row : *strategy, joined(path, "strategy"),
                               "expected a strategy's name, as weir run writes it"));
    const Value* iteration = row.find("iteration_ns");
    const auto time = iteration == nullptr ? std::nullopt : nanoseconds(*iteration);
    if (!time)
      return failure(complaint(iteration == nullptr ? row : *iteration, joined(path, "iteration_ns"),
                               no_nanoseconds(iteration)));
    std::string key;
    for (const char* part : {"topology", "trace", "values"})
      key += row.find(part) == nullptr ? "" : json(*row.find(part)).dump();
    auto& experiment = known[key];
    if (experiment == nullptr) {
      auto read = experiment_of(document, row, source);
      if (!read) return tl::unexpected(read.error());
      experiment = std::move(*read);
    }
    if (const auto own = contender(*experiment, strategy->as_string()); !own)
      return failure(complaint(*strategy, joined(path, "strategy"), own.error().text));
    all.runs.push_back({source, experiment, strategy->as_string(), *time});
  }
  return all;
}

Result<RealRuns> read_lines(const std::string& text, const std::string& source, const RowsOf& of) {
  Rows rows(source, of);
  std::istringstream lines(text);
  std::size_t others = 0;
  int at = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string where = fmt::format("{}:{}", source, ++at);
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const auto row = parse_document(line, source);
    if (!row || !row->is(Value::Kind::kObject)) return failure(where + ": expected one JSON object per line");
    const Value* time = row->find("iteration_ns");
    const Value* strategy = row->find("strategy");
    if (time == nullptr || strategy == nullptr || !strategy->is(Value::Kind::kString)) {
      const Value* options = row->find("options");
      if (at == 1 && options != nullptr && options->is(Value::Kind::kString)) {
        if (const auto taken = take_settings(rows, options->as_string()); !taken)
          return tl::unexpected(taken.error());
      }
      others += at == 1 ? 0 : 1;
      continue;
    }
    const auto settings = settings_of(where, *row);
    if (!settings) return tl::unexpected(settings.error());
    if (const auto added = rows.add(where, strategy->as_string(), *time, *settings); !added)
      return tl::unexpected(added.error());
  }
  if (rows.all().runs.empty())
    return failure(source + ": expected rows of real runs, but no line has 'strategy' and 'iteration_ns'");
  if (others > 0)
    rows.all().remarks.push_back(
        fmt::format("{}: {} lines are not runs of Weir and were left out", source, others));
  return std::move(rows.all());
}

Result<RealRuns> read_csv(const std::string& text, const std::string& source, const RowsOf& of) {
  std::istringstream lines(text);
  int at = 0;
  const CsvHead head = csv_head(lines, at);
  const std::size_t strategy = head.column("strategy");
  const std::size_t time = head.column("iteration_ns");
  const std::size_t columns = head.columns.size();
  if (strategy == columns || time == columns)
    return failure(source + ": expected the columns 'strategy' and 'iteration_ns' of results.csv");
  if (!head.no_measurement.empty()) return failure(fmt::format("{}:1: {}", source, head.no_measurement));
  RowsOf own = of;
  if (own.experiment.empty()) own.experiment = head.experiment;
  Rows rows(source, own);
  if (const auto taken = take_settings(rows, head.settings); !taken) return tl::unexpected(taken.error());
  for (std::string line; std::getline(lines, line);) {
    const std::string where = fmt::format("{}:{}", source, ++at);
    line = without_end(line);
    if (line.empty()) continue;
    const std::vector<std::string> row = cells(line);
    if (row.size() != columns)
      return failure(fmt::format("{}: expected {} cells, not {}", where, columns, row.size()));
    std::vector<Setting> settings;
    // The columns of the sweep are between the cluster's and the seed.
    for (std::size_t i = head.column("cpu_machines") + 1; i < head.column("seed"); ++i) {
      const bool by_option = rows.swept_by_option(head.columns[i]);
      for (const std::string& path : paths_in(head.columns[i])) {
        if (!by_option) {
          settings.push_back(setting(path, row[i]));
          continue;
        }
        auto option = parse_setting(path + "=" + row[i]);
        if (!option) return failure(where + ": " + option.error().text);
        settings.push_back(std::move(*option));
      }
    }
    const auto added = rows.add(where, row[strategy], Value(row[time]), settings);
    if (!added) return tl::unexpected(added.error());
  }
  return std::move(rows.all());
}

}  // namespace weir
