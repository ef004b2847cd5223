#include "studies/run/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/nearest.h"
#include "core/calibrate/real_runs.h"
#include "core/cluster/topology_file.h"
#include "core/document/file_kind.h"

namespace weir {
namespace {

// The settings from the file of --settings, and those of --set.
Result<std::vector<Setting>> parsed(const std::string& settings_file,
                                    const std::vector<std::string>& settings) {
  std::vector<Setting> parsed;
  if (!settings_file.empty()) {
    const auto read_file = read_settings(settings_file);
    if (!read_file) return tl::unexpected(read_file.error());
    parsed = settings_of(*read_file);
  }
  for (const std::string& text : settings) {
    auto setting = parse_setting(text);
    if (!setting) return failure("--set: " + setting.error().text);
    parsed.push_back(std::move(*setting));
  }
  return parsed;
}

}  // namespace

Result<ExperimentFile> Input::read() const {
  const auto put = parsed(settings_file, settings);
  if (!put) return tl::unexpected(put.error());
  return trace.empty() ? ExperimentFile::read(file, *put) : ExperimentFile::of(file, trace, *put);
}

std::vector<std::string> Input::files(const ExperimentFile& read) const {
  std::vector<std::string> files = read.files();
  files.push_back(settings_file);
  return files;
}

Result<Topology> topology_of(const std::string& file, const std::vector<std::string>& settings) {
  const auto values = parsed("", settings);
  if (!values) return tl::unexpected(values.error());
  for (const Setting& setting : *values) {
    for (const std::string& path : paths_in(setting.path)) {
      if (path != "topology" && !path.starts_with("topology."))
        return failure(fmt::format(
            "--set {}: expected a path in the topology, such as topology.groups.cpu.count", path));
    }
  }
  auto read = read_document(file);
  if (!read) return tl::unexpected(read.error());
  Value document = Value::object();
  document.append("topology", std::move(*read));
  for (const Error& error : put(document, *values)) return tl::unexpected(error);
  return read_topology(*document.find("topology"), settings.empty() ? "" : "topology");
}

Result<Streams> Input::streams() const {
  if (settings_file.empty()) return Streams();
  const auto read_file = read_settings(settings_file);
  if (!read_file) return tl::unexpected(read_file.error());
  return read_file->run;
}

std::optional<std::string> tuned_for_others(const Input& input, const std::vector<std::string>& strategies,
                                            const std::string& traces) {
  if (input.settings_file.empty()) return std::nullopt;
  const auto settings = read_settings(input.settings_file);
  if (!settings || !settings->tuned) return std::nullopt;
  const Tuned& tuned = *settings->tuned;
  std::vector<std::string> others = strategies;
  if (tuned.trace.value_or(traces) == traces) std::erase(others, tuned.strategy);
  if (others.empty()) return std::nullopt;
  return fmt::format("{} was tuned for '{}' of {}, and is applied to {} of {}", input.settings_file,
                     tuned.strategy, tuned.trace.value_or(tuned.experiment), quoted(others), traces);
}

Result<std::vector<std::string>> Input::experiments() const {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(file, error) || fs::exists(fs::path(file) / "experiment.json", error))
    return std::vector{file};
  std::vector<std::string> found;
  const auto skip = fs::directory_options::skip_permission_denied;
  for (const auto& entry : fs::recursive_directory_iterator(file, skip, error)) {
    if (entry.path().extension() != ".json") continue;
    const auto document = read_document(entry.path().string());
    if (!document) return tl::unexpected(document.error());
    // Result files contain their experiment, so they look like one.
    if (kind_of(*document) == FileKind::kExperiment && !is_results(*document))
      found.push_back(entry.path().lexically_normal().string());
  }
  if (error) return failure(fmt::format("{}: {}", file, error.message()));
  if (found.empty()) return failure(fmt::format("{}: there is no experiment in this folder", file));
  std::sort(found.begin(), found.end());
  return found;
}

Result<Experiment> Input::base() const {
  const auto read_file = read();
  if (!read_file) return tl::unexpected(read_file.error());
  return read_file->experiment({});
}

}  // namespace weir
