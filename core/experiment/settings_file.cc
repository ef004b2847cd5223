#include "core/experiment/settings_file.h"

#include <nlohmann/json.hpp>

#include "core/document/document.h"
#include "core/document/file_kind.h"
#include "core/document/read_fields.h"
#include "core/document/schema.h"
#include "core/document/write_fields.h"
#include "core/experiment/experiment_check.h"
#include "core/experiment/experiment_fields.h"

namespace weir {
namespace {

struct OptionsText {
  Options options;
  Value credit = Value(std::int64_t{*Options{}.credit});
};

struct SettingsText {
  OptionsText settings;
  Streams run;
  std::optional<Tuned> tuned;
};

template <class Visitor>
void fields(Visitor& visitor, OptionsText& text) {
  option_fields(visitor, text.options, text.credit);
}

}  // namespace

// Outside the anonymous namespace, since visitors find it through its argument.
template <class Visitor>
void fields(Visitor& visitor, Streams& streams) {
  visitor.optional("channels", streams.channels, "connections between two machines", within(1, 64));
  visitor.optional("io_threads", streams.io_threads, "threads of each machine that move bytes",
                   within(1, 64));
  visitor.optional("workers", streams.workers, "threads of each machine that sum and copy", within(1, 1024));
}

template <class Visitor>
void fields(Visitor& visitor, Tuned& tuned) {
  visitor.required("experiment", tuned.experiment, "the experiment that was run");
  visitor.optional("set", tuned.set, "the values of it that --set replaced");
  visitor.required("strategy", tuned.strategy, "the strategy, or the experiment's variant of one");
  visitor.optional("trace", tuned.trace, "the trace, by name and size");
  visitor.required("world", tuned.world, "where it was run");
  visitor.required("method", tuned.method, "how trials were chosen");
  visitor.required("seed", tuned.seed, "the seed of the method");
  visitor.required("trials", tuned.trials, "how many trials there were");
  visitor.required("iteration", tuned.iteration, "the time of an iteration with these settings");
  visitor.required("weir", tuned.weir, "the version");
  visitor.optional(
      "label", tuned.label,
      "the label of that time, if it was simulated: calibrated, extrapolated or vendor constant");
  visitor.optional("label_reason", tuned.label_reason, "the value that prevents a better label, and why");
}

namespace {

template <class Visitor>
void fields(Visitor& visitor, SettingsText& text) {
  visitor.required("settings", text.settings, "options of strategies, as experiments have them");
  visitor.optional("run", text.run, "further settings of real runs");
  visitor.optional("tuned", text.tuned, "where the settings come from");
}

}  // namespace

Result<SettingsFile> read_settings(const std::string& file) {
  const auto document = read_document(file);
  if (!document) return tl::unexpected(document.error());
  if (const auto kind = expect(FileKind::kSettings, *document); !kind) return tl::unexpected(kind.error());
  auto read = read_fields<SettingsText>(*document);
  if (!read) return tl::unexpected(read.error());
  Complaints complaints;
  check_options("settings.", read->settings.options, read->settings.credit, *document, complaints);
  if (!complaints.empty()) return tl::unexpected(complaints.error());
  SettingsFile result{Value::object(), read->run, std::move(read->tuned)};
  for (const Value::Member& member : document->find("settings")->members()) {
    Value value = member.value;
    value.written_at(joined("settings", member.name));
    result.settings.append(member.name, std::move(value));
  }
  return result;
}

std::vector<Setting> settings_of(const SettingsFile& file) {
  std::vector<Setting> settings;
  for (const Value::Member& member : file.settings.members())
    settings.push_back({member.name, member.value, label(member.value)});
  return settings;
}

std::string text(const SettingsFile& file) {
  nlohmann::ordered_json written = {{"settings", json(file.settings)}};
  const nlohmann::ordered_json run = write_fields(file.run);
  if (!run.empty()) written["run"] = run;
  if (file.tuned) written["tuned"] = write_fields(*file.tuned);
  return json_text(written, 2) + "\n";
}

std::string settings_schema() {
  auto schema = nlohmann::ordered_json::parse(schema_text<SettingsText>("Weir settings"), nullptr, false);
  nlohmann::ordered_json& options = schema["properties"]["settings"]["properties"];
  options["credit"]["anyOf"] = credit_schema();
  for (auto& [name, property] : options.items())
    property.erase("default");  // an option that is left out stays unchanged
  return schema.dump(2) + "\n";
}

}  // namespace weir
