#include "core/experiment/experiment_file.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "core/base/units_text.h"
#include "core/cluster/topology_file.h"
#include "core/document/complaints.h"
#include "core/document/file_kind.h"
#include "core/document/read_fields.h"
#include "core/document/schema.h"
#include "core/document/write_fields.h"
#include "core/experiment/experiment_check.h"
#include "core/experiment/experiment_fields.h"
#include "core/workload/trace_file.h"

namespace weir {
namespace {

constexpr std::string_view kFileParts[] = {"topology", "trace"};

// Whether the path defines the points, not the values at them.
bool is_sweep(std::string_view path) {
  const std::string_view head = path.substr(0, path.find('.'));
  return head == "sweep" || head == "sweep_by" || head == "samples";
}

// Takes values of the model from a calibrated topology where the experiment states none. (Mistakes in the
// calibration are reported when the topology is read.)
std::vector<Error> take_calibrated(Value& document) {
  const Value* topology = document.find("topology");
  const Value* calibration = topology == nullptr ? nullptr : topology->find("calibration");
  const Value* values = calibration == nullptr ? nullptr : calibration->find("values");
  if (values == nullptr || !values->is(Value::Kind::kArray)) return {};
  std::vector<Setting> taken;
  for (const Value& entry : values->elements()) {
    const Value* path = entry.find("path");
    const Value* value = entry.find("value");
    if (path == nullptr || value == nullptr || !path->is(Value::Kind::kString)) continue;
    if (!of_experiment(path->as_string()) || value_at(document, path->as_string()) != nullptr) continue;
    taken.push_back({path->as_string(), *value, label(*value)});
  }
  return put(document, taken);
}

// The lines of all errors, each once, at most kShown of them.
Error joined_errors(const std::vector<Error>& errors) {
  constexpr std::size_t kShown = 50;
  std::vector<std::string> lines;
  for (const Error& error : errors) {
    std::istringstream text(error.text);
    for (std::string line; std::getline(text, line);) {
      if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    }
  }
  const std::size_t more = lines.size() - std::min(kShown, lines.size());
  lines.resize(lines.size() - more);
  std::string text = fmt::format("{}", fmt::join(lines, "\n"));
  if (more > 0) text += fmt::format("\nand {} more", more);
  return Error{std::move(text)};
}

// Checks the experiment's own fields.
std::vector<Error> read_text(const Value& document, ExperimentText& text) {
  Complaints complaints;
  Reader reader(document, "", complaints);
  fields(reader, text);
  reader.finish();
  check_experiment(text, document, complaints);
  if (complaints.empty()) return {};
  return {complaints.error()};
}

}  // namespace

Result<ExperimentFile> ExperimentFile::read(const std::string& file, const std::vector<Setting>& settings) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(file, ignored);
  const std::string name =
      folder ? (std::filesystem::path(file) / "experiment.json").lexically_normal().string() : file;
  auto document = read_document(name);
  if (!document) return tl::unexpected(document.error());
  if (const auto kind = expect(FileKind::kExperiment, *document); !kind) return tl::unexpected(kind.error());
  if (!document->is(Value::Kind::kObject)) {
    return failure(complaint(*document, "", "expected an object, not " + description(*document)));
  }
  return whole(ExperimentFile(name, std::move(*document), settings));
}

Result<ExperimentFile> ExperimentFile::of(const std::string& topology, const std::string& trace,
                                          const std::vector<Setting>& settings) {
  Value document = Value::object();
  document.append("topology", Value(topology));
  document.append("trace", Value(trace));
  return whole(ExperimentFile("", std::move(document), settings));
}

Result<ExperimentFile> ExperimentFile::parse(const std::string& text, const std::string& name) {
  auto document = parse_document(text, name);
  if (!document) return tl::unexpected(document.error());
  return whole(ExperimentFile(name, std::move(*document), {}));
}

Result<ExperimentFile> ExperimentFile::whole(ExperimentFile file) {
  std::vector<Error> errors = file.read_parts();
  for (Error& error : file.read_sweep()) errors.push_back(std::move(error));
  if (errors.empty()) return file;
  ExperimentText text;
  for (Error& error : read_text(file.document_, text)) errors.push_back(std::move(error));
  return tl::unexpected(joined_errors(errors));
}

std::vector<Error> ExperimentFile::read_parts() {
  std::vector<Error> errors;
  for (const std::string_view name : kFileParts) {
    bool replaced = false;
    for (Setting& setting : settings_) {
      if (setting.path != name) continue;
      replaced = true;
      if (auto part = resolved(setting.value, name)) {
        setting.value = std::move(*part);
      } else {
        errors.push_back(part.error());
      }
    }
    const Value* part = document_.find(name);
    if (part == nullptr || replaced) continue;
    if (auto read = resolved(*part, name)) {
      WEIR_CHECK(document_.set(name, std::move(*read)), name);
    } else {
      errors.push_back(read.error());
    }
  }
  return errors;
}

Result<Value> ExperimentFile::resolved(const Value& value, std::string_view path) const {
  if (!value.is(Value::Kind::kString)) return value;
  const std::string file = file_named(value);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) {
    return failure(complaint(value, path, fmt::format("there is no file {}", file)));
  }
  return read_document(file);
}

// A name on the command line is relative to the current folder; one in a file, to that file.
std::string ExperimentFile::file_named(const Value& value) const {
  std::filesystem::path file = value.as_string();
  if (!on_command_line(value)) file = std::filesystem::path(name_).parent_path() / file;
  return file.lexically_normal().string();
}

std::vector<std::string> ExperimentFile::files() const {
  std::vector<std::string> files = {name_};
  const auto take = [&](const Value& value) {
    files.push_back(value.file());
    // Traces of other jobs are read at each point.
    if (value.is(Value::Kind::kString)) files.push_back(file_named(value));
  };
  Value document = document_;
  put(document, settings_);
  for (const Value::Member& member : document.members()) take(member.value);
  for (const Axis& axis : axes_) {
    for (const Setting& choice : axis.choices) take(choice.value);
  }
  const Value* jobs = document.find("other_jobs");
  if (jobs != nullptr && jobs->is(Value::Kind::kArray)) {
    for (const Value& job : jobs->elements()) {
      if (const Value* trace = job.find("trace")) take(*trace);
    }
  }
  return files;
}

std::vector<Error> ExperimentFile::read_sweep() {
  std::vector<Setting> swept;
  std::copy_if(settings_.begin(), settings_.end(), std::back_inserter(swept),
               [](const Setting& setting) { return is_sweep(setting.path); });
  std::vector<Error> errors = put(document_, swept);
  const Value* sweep = document_.find("sweep");
  if (sweep != nullptr && !sweep->is(Value::Kind::kObject)) {
    errors.push_back({complaint(*sweep, "sweep", "expected an object of lists, not " + description(*sweep))});
    return errors;
  }
  const auto resolve = [this](const Value& value, std::string_view path) { return resolved(value, path); };
  for (const Value::Member& member : sweep == nullptr ? std::vector<Value::Member>() : sweep->members()) {
    if (auto axis = read_axis(member, resolve)) {
      axes_.push_back(std::move(*axis));
    } else {
      errors.push_back(axis.error());
    }
  }
  if (const Value* samples = document_.find("samples");
      samples != nullptr && !samples->is(Value::Kind::kNull)) {
    if (auto axes = read_samples(*samples)) {
      axes_.insert(axes_.end(), axes->begin(), axes->end());
    } else {
      errors.push_back(axes.error());
    }
  }
  // Any other name is reported with the experiment's other fields.
  for (const auto& named : enum_names(Combination{})) {
    const Value* by = document_.find("sweep_by");
    if (by != nullptr && *by == Value(std::string(named.name))) combination_ = named.value;
  }
  std::vector<std::string> paths;
  for (const Axis& axis : axes_) {
    for (std::string& path : paths_in(axis.path)) {
      for (const std::string& other : paths) {
        if (!same(path, other)) continue;
        const std::string what = path == axis.path ? "this" : fmt::format("'{}'", path);
        errors.push_back(complain(axis, fmt::format("{} is the same as '{}'", what, other)));
      }
      paths.push_back(std::move(path));
    }
  }
  leave_out_what_is_set(errors);
  const double points = count_points(axes_, combination_);
  if (points > kMostPoints) {
    errors.push_back({complaint(sweep == nullptr ? document_ : *sweep, "sweep", too_many(points))});
  }
  return errors;
}

Error ExperimentFile::complain(const Axis& axis, std::string_view text) const {
  const std::string_view list = axis.sampled ? "samples.over" : "sweep";
  const Value& value = *located(document_, list).find(axis.path);
  return {complaint(value, joined(list, axis.path), text)};
}

void ExperimentFile::leave_out_what_is_set(std::vector<Error>& errors) {
  std::vector<std::string> set;
  for (const Setting& setting : settings_) {
    for (std::string& path : paths_in(setting.path)) set.push_back(std::move(path));
  }
  std::vector<Axis> left;
  for (Axis& axis : axes_) {
    const std::vector<std::string> paths = paths_in(axis.path);
    const auto is_set = [&](const std::string& path) {
      return std::any_of(set.begin(), set.end(), [&](const std::string& own) { return same(own, path); });
    };
    const auto count = static_cast<std::size_t>(std::count_if(paths.begin(), paths.end(), is_set));
    if (count > 0 && count < paths.size())
      errors.push_back(complain(axis, "these paths are swept together: set all of them or none"));
    if (count == 0) left.push_back(std::move(axis));
  }
  axes_ = std::move(left);
}

bool ExperimentFile::same(const std::string& path, const std::string& other) const {
  std::vector<Setting> wholes;  // every topology and trace of sweep and settings
  for (const Axis& axis : axes_) {
    if (is_file_part(axis.path)) wholes.insert(wholes.end(), axis.choices.begin(), axis.choices.end());
  }
  for (const Setting& setting : settings_) {
    if (is_file_part(setting.path)) wholes.push_back(setting);
  }
  if (place(document_, path) == place(document_, other)) return true;
  return std::any_of(wholes.begin(), wholes.end(), [&](const Setting& whole) {
    const std::string part = whole.path + ".";
    if (!path.starts_with(part) || !other.starts_with(part)) return false;
    return place(whole.value, std::string_view(path).substr(part.size())) ==
           place(whole.value, std::string_view(other).substr(part.size()));
  });
}

Value ExperimentFile::samples() const {
  const Value* samples = document_.find("samples");
  return samples == nullptr ? Value() : *samples;
}

std::size_t ExperimentFile::points() const {
  return static_cast<std::size_t>(count_points(axes_, combination_));
}

std::vector<Setting> ExperimentFile::point(std::size_t index) const {
  return point_of(axes_, combination_, index);
}

std::string ExperimentFile::path_of(const Value& part, const std::string& name) const {
  return part.where().starts_with(name_ + ":") || on_command_line(part) ? name : std::string();
}

Result<Experiment> ExperimentFile::experiment(const std::vector<Setting>& point) const {
  Value document = document_;
  std::vector<Setting> values = point;
  values.insert(values.end(), settings_.begin(), settings_.end());
  std::vector<Error> errors = put(document, values);
  for (Error& error : take_calibrated(document)) errors.push_back(std::move(error));
  ExperimentText text;
  for (Error& error : read_text(document, text)) errors.push_back(std::move(error));
  const auto read = [&](auto& into, const Value& part, const std::string& name, auto reader) {
    auto found = reader(part, path_of(part, name));
    if (found) {
      into = std::move(*found);
    } else {
      errors.push_back(found.error());
    }
  };
  using Path = const std::string&;
  if (document.find("topology") != nullptr) {  // if missing, already reported
    read(text.experiment.topology, text.topology, "topology",
         [](const Value& part, Path path) { return read_topology(part, path); });
  }
  const auto read_trace_at = [](const Value& part, Path path) { return read_trace(part, path); };
  if (document.find("trace") != nullptr) read(text.experiment.trace, text.trace, "trace", read_trace_at);
  for (std::size_t i = 0; i < text.experiment.other_jobs.size(); ++i) {
    if (located(document, joined("other_jobs", i)).find("trace") == nullptr) continue;
    const std::string at = joined(joined("other_jobs", i), "trace");
    if (const auto part = resolved(text.other_jobs[i].trace, at)) {
      read(text.experiment.other_jobs[i].trace, *part, at, read_trace_at);
    } else {
      errors.push_back(part.error());
    }
  }
  if (!settings_.empty()) text.experiment.published.reset();  // settings make other runs
  if (errors.empty()) errors = check_together(text.experiment, document);
  if (!errors.empty()) return tl::unexpected(joined_errors(errors));
  return std::move(text.experiment);
}

Result<void> ExperimentFile::each_point(const Seen& seen) const {
  std::vector<Error> errors;
  for (std::size_t i = 0; i < points(); ++i) {
    const auto found = experiment(point(i));
    if (!found) errors.push_back(found.error());
    if (found && errors.empty()) seen(*found);
  }
  if (!errors.empty()) return tl::unexpected(joined_errors(errors));
  return {};
}

}  // namespace weir
