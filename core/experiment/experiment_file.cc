#include "core/experiment/experiment_file.h"

#include <algorithm>
#include <filesystem>

#include "core/base/complaints.h"
#include "core/base/read_fields.h"
#include "core/base/schema.h"
#include "core/base/write_fields.h"
#include "core/cluster/topology_file.h"
#include "core/experiment/experiment_check.h"
#include "core/experiment/experiment_fields.h"
#include "core/workload/trace_file.h"

namespace weir {
namespace {

constexpr std::string_view kFileParts[] = {"topology", "trace"};

bool is_file_part(std::string_view path) { return path == kFileParts[0] || path == kFileParts[1]; }

// Puts the value at the path. The model may be left out of a file, and its fields be varied nevertheless.
Result<void> set(Value& document, const Setting& setting) {
  if (setting.path.starts_with("model.") && document.find("model") == nullptr) {
    document.append("model", Value::object());
  }
  return document.set(setting.path, setting.value);
}

// Those of whole topologies and traces, which other paths may lead into; or all others.
enum class Kind { kFilePart, kOther };

Result<void> set_all(Value& document, const std::vector<Setting>& settings, Kind kind) {
  for (const Setting& setting : settings) {
    if (is_file_part(setting.path) != (kind == Kind::kFilePart)) continue;
    if (const auto done = set(document, setting); !done) return done;
  }
  return {};
}

}  // namespace

Result<ExperimentFile> ExperimentFile::read(const std::string& file, const std::vector<Setting>& settings) {
  ExperimentFile result;
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(file, ignored);
  result.name_ =
      folder ? (std::filesystem::path(file) / "experiment.json").lexically_normal().string() : file;
  auto document = read_document(result.name_);
  if (!document) return tl::unexpected(document.error());
  result.document_ = std::move(*document);
  if (!result.document_.is(Value::Kind::kObject)) {
    return failure(
        complaint(result.document_, "", "expected an object, not " + description(result.document_)));
  }
  if (const auto done = set_all(result.document_, settings, Kind::kFilePart); !done) {
    return tl::unexpected(done.error());
  }
  for (const std::string_view name : kFileParts) {
    const Value* part = result.document_.find(name);
    if (part == nullptr) continue;
    auto resolved = result.resolved(*part, name);
    if (!resolved) return tl::unexpected(resolved.error());
    WEIR_CHECK(result.document_.set(name, std::move(*resolved)), name);
  }
  if (const auto done = set_all(result.document_, settings, Kind::kOther); !done) {
    return tl::unexpected(done.error());
  }
  if (const auto swept = result.read_sweep(settings); !swept) return tl::unexpected(swept.error());
  return result;
}

Result<Value> ExperimentFile::resolved(const Value& value, std::string_view path) const {
  if (!value.is(Value::Kind::kString)) return value;
  std::filesystem::path file = value.as_string();
  // A name on the command line starts where that is; one in a file, beside the file.
  if (!value.where().empty()) file = std::filesystem::path(name_).parent_path() / file;
  file = file.lexically_normal();
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) {
    return failure(complaint(value, path, fmt::format("there is no file {}", file.string())));
  }
  return read_document(file.string());
}

Result<void> ExperimentFile::read_sweep(const std::vector<Setting>& settings) {
  const Value* sweep = document_.find("sweep");
  if (sweep == nullptr) return {};
  if (!sweep->is(Value::Kind::kObject)) {
    return failure(complaint(*sweep, "sweep", "expected an object of lists, not " + description(*sweep)));
  }
  for (const Value::Member& member : sweep->members()) {
    const bool fixed = std::any_of(settings.begin(), settings.end(),
                                   [&](const Setting& setting) { return setting.path == member.name; });
    if (fixed) continue;
    auto axis = read_axis(member);
    if (!axis) return tl::unexpected(axis.error());
    axes_.push_back(std::move(*axis));
  }
  return {};
}

Result<Axis> ExperimentFile::read_axis(const Value::Member& member) const {
  const std::string path = joined("sweep", member.name);
  for (const std::string_view name : {"question", "strategies", "baseline", "sweep", "seeds", "timelines"}) {
    if (member.name == name) {
      return failure(complaint(member.value, path, fmt::format("'{}' cannot be swept", name)));
    }
  }
  if (!member.value.is(Value::Kind::kArray) || member.value.elements().empty()) {
    const std::string found =
        member.value.is(Value::Kind::kArray) ? "an empty one" : description(member.value);
    return failure(complaint(member.value, path, "expected a list of values, not " + found));
  }
  Axis axis{member.name, {}};
  for (const Value& value : member.value.elements()) {
    Setting choice{member.name, value, label(value)};
    for (const Setting& other : axis.choices) {
      if (other.text != choice.text) continue;
      return failure(complaint(value, path, fmt::format("{} stands here twice", choice.text)));
    }
    if (is_file_part(member.name)) {
      auto part = resolved(value, path);
      if (!part) return tl::unexpected(part.error());
      choice.value = std::move(*part);
    }
    axis.choices.push_back(std::move(choice));
  }
  return axis;
}

std::size_t ExperimentFile::points() const {
  std::size_t count = 1;
  for (const Axis& axis : axes_) count *= axis.choices.size();
  return count;
}

std::vector<Setting> ExperimentFile::point(std::size_t index) const {
  std::vector<Setting> settings(axes_.size());
  for (std::size_t i = axes_.size(); i-- > 0;) {
    const std::vector<Setting>& choices = axes_[i].choices;
    settings[i] = choices[index % choices.size()];
    index /= choices.size();
  }
  return settings;
}

std::string ExperimentFile::path_of(const Value& part, const std::string& name) const {
  return part.where().starts_with(name_ + ":") ? name : std::string();
}

Result<Experiment> ExperimentFile::experiment(const std::vector<Setting>& settings) const {
  Value document = document_;
  for (const Kind kind : {Kind::kFilePart, Kind::kOther}) {
    if (const auto done = set_all(document, settings, kind); !done) return tl::unexpected(done.error());
  }
  Complaints complaints;
  ExperimentText text;
  Reader reader(document, "", complaints);
  fields(reader, text);
  reader.finish();
  check_experiment(text, document, complaints);
  if (!complaints.empty()) return tl::unexpected(complaints.error());
  auto topology = read_topology(text.topology, path_of(text.topology, "topology"));
  if (!topology) return tl::unexpected(topology.error());
  auto trace = read_trace(text.trace, path_of(text.trace, "trace"));
  if (!trace) return tl::unexpected(trace.error());
  text.experiment.topology = std::move(*topology);
  text.experiment.trace = std::move(*trace);
  return std::move(text.experiment);
}

}  // namespace weir
