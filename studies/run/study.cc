#include "studies/run/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/version.h"
#include "core/document/complaints.h"
#include "core/document/document.h"
#include "core/document/read_fields.h"
#include "core/document/write_fields.h"
#include "core/experiment/experiment_fields.h"

namespace weir {

template <class Visitor>
void fields(Visitor& visitor, Source& source) {
  visitor.required("hash", source.hash, "that identifies it");
  visitor.required("name", source.name, "for people");
  visitor.required("text", source.text, "it as JSON");
}

template <class Visitor>
void fields(Visitor& visitor, StudyAxis& axis) {
  visitor.required("path", axis.path, "what is varied");
  visitor.optional("sampled", axis.sampled, "whether its values are samples");
  visitor.required("choices", axis.choices, "its values");
}

template <class Visitor>
void fields(Visitor& visitor, StudyPoint& point) {
  visitor.required("topology", point.topology, "a position among the topologies");
  visitor.required("trace", point.trace, "a position among the traces");
  visitor.required("values", point.values, "a value for each axis");
}

template <class Visitor>
void fields(Visitor& visitor, Study& study) {
  visitor.required("weir", study.weir, "the version that made it");
  visitor.required("file", study.file, "the experiment's");
  visitor.required("settings", study.settings, "those of the command line");
  visitor.required("question", study.question, "what is to be answered");
  visitor.required("world", study.world, "what runs it");
  visitor.required("world_settings", study.world_settings, "that results depend on");
  visitor.required("simulated", study.simulated, "whether nothing moves for real");
  visitor.required("experiment", study.experiment, "what it says at every point");
  visitor.required("baseline", study.baseline, "what speed-ups are relative to");
  visitor.required("strategies", study.strategies, "what is compared");
  visitor.required("seeds", study.seeds, "of the jitter");
  visitor.required("timelines", study.timelines, "the strategies that are drawn");
  visitor.required("timeline_points", study.timeline_points, "where they are");
  visitor.required("axes", study.axes, "what is varied");
  visitor.required("combination", study.combination, "how values are combined");
  visitor.required("samples", study.samples, "how points were drawn");
  visitor.required("topologies", study.topologies, "of all points");
  visitor.required("traces", study.traces, "of all points");
  visitor.required("points", study.points, "each with its values");
}

namespace {

// Shows a topology or trace of a sweep by its name.
Value plain(const Setting& setting) {
  const bool whole = setting.value.is(Value::Kind::kObject) || setting.value.is(Value::Kind::kArray);
  return whole ? Value(setting.text) : setting.value;
}

// What the experiment says at every point, without what is varied, and without topology and trace, which rows
// name by their hashes.
nlohmann::ordered_json shared(const Experiment& first, const std::vector<Axis>& axes) {
  nlohmann::ordered_json written = write_experiment(first);
  written.erase("topology");
  written.erase("trace");
  for (const Axis& axis : axes) {
    for (const std::string& path : paths_in(axis.path)) {
      if (!written.contains(path.substr(0, path.find('.')))) continue;
      std::string pointer = "/" + path;
      std::replace(pointer.begin(), pointer.end(), '.', '/');
      const nlohmann::ordered_json::json_pointer leaf(pointer);
      const nlohmann::ordered_json::json_pointer parent = leaf.parent_pointer();
      if (written.contains(parent) && written[parent].is_object()) written[parent].erase(leaf.back());
    }
  }
  return written;
}

// Members that may be of any kind in JSON, but not in a study.
void check_values(const Study& study, const Value& document, const std::string& path,
                  Complaints& complaints) {
  const auto object = [&](const Value& value, const char* name) {
    if (value.is(Value::Kind::kObject)) return;
    complaints.add(value, joined(path, name), "expected an object, not " + description(value));
  };
  object(study.settings, "settings");
  object(study.experiment, "experiment");
  if (!study.samples.is(Value::Kind::kNull)) object(study.samples, "samples");
  for (std::size_t i = 0; i < study.axes.size(); ++i) {
    const std::string axis = joined(joined(path, "axes"), i);
    if (study.axes[i].path.empty()) complaints.add(document, joined(axis, "path"), "expected a path, not ''");
    if (study.axes[i].choices.empty())
      complaints.add(document, joined(axis, "choices"), "expected at least one value");
  }
}

// Results repeat the texts as they are.
void check_sources(const std::vector<Source>& sources, const Value& document, const std::string& path,
                   Complaints& complaints) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const auto parsed = parse_document(sources[i].text, "");
    if (parsed && parsed->is(Value::Kind::kObject)) continue;
    complaints.add(document, joined(joined(path, i), "text"),
                   "expected an object as JSON text" + (parsed ? "" : ": " + parsed.error().text));
  }
}

}  // namespace

std::string Study::label(std::size_t point) const {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    text += fmt::format("{}{}={}", i > 0 ? " " : "", axes[i].path, weir::label(points[point].values[i]));
  }
  return text;
}

Study study_of(const ExperimentFile& file, const Configuration& configuration, const World& world) {
  const Experiment& first = configuration.first;
  Study study;
  study.weir = version();
  study.file = file.name();
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();
  for (const Setting& setting : file.settings()) settings[setting.path] = json(plain(setting));
  study.settings = *parse_document(json_text(settings), "");  // we wrote it, so it parses
  study.question = first.question;
  study.world = world.name;
  study.world_settings = world.settings;
  study.simulated = world.simulated;
  study.experiment = *parse_document(json_text(shared(first, file.axes())), "");
  study.baseline = first.baseline;
  study.strategies = first.strategies;
  study.seeds = first.seeds;
  study.timelines = first.timelines;
  study.timeline_points = first.timeline_points;
  study.combination = file.combination();
  study.samples = file.samples();
  study.topologies = configuration.topologies;
  study.traces = configuration.traces;
  for (const Axis& axis : file.axes()) {
    StudyAxis& own = study.axes.emplace_back(StudyAxis{axis.path, axis.sampled, {}});
    for (const Setting& choice : axis.choices) own.choices.push_back(plain(choice));
  }
  for (std::size_t i = 0; i < file.points(); ++i) {
    StudyPoint& own = study.points.emplace_back(
        StudyPoint{configuration.points[i].topology, configuration.points[i].trace, {}});
    for (const Setting& setting : file.point(i)) own.values.push_back(plain(setting));
  }
  return study;
}

std::string text(const Study& study) { return json_text(write_fields(study)); }

Result<Study> study_from(const Value& document, const std::string& path) {
  auto study = read_fields<Study>(document, path);
  if (!study) return study;
  Complaints complaints;
  check_values(*study, document, path, complaints);
  check_sources(study->topologies, document, joined(path, "topologies"), complaints);
  check_sources(study->traces, document, joined(path, "traces"), complaints);
  if (!complaints.empty()) return tl::unexpected(complaints.error());
  for (const StudyPoint& point : study->points) {
    if (point.topology >= study->topologies.size() || point.trace >= study->traces.size() ||
        point.values.size() != study->axes.size()) {
      return failure(complaint(document, joined(path, "points"),
                               "a point names a topology, trace or value that is missing"));
    }
  }
  if (study->points.empty() || study->runs_per_point() == 0)
    return failure(complaint(document, path, "there is nothing to run"));
  return study;
}

}  // namespace weir
