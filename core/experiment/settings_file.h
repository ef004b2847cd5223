// Settings files: options of strategies, such as the best of a search, without an experiment. Experiments and
// training sessions take them instead of their own.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/document/document.h"
#include "core/experiment/settings.h"

namespace weir {

/// Settings of real runs beside the options; none: the run's own default.
struct Streams {
  std::optional<int> channels;    // connections between two machines
  std::optional<int> io_threads;  // threads of each machine that move bytes
  std::optional<int> workers;     // threads of each machine that sum and copy
};

/// Their names in files.
constexpr std::array<std::pair<std::string_view, std::optional<int> Streams::*>, 3> kStreams = {
    {{"channels", &Streams::channels}, {"io_threads", &Streams::io_threads}, {"workers", &Streams::workers}}};

/// Where settings come from. It is for people, and lets a user be warned of another strategy or trace.
struct Tuned {
  std::string experiment;
  std::vector<std::string> set;  // values of the experiment that were replaced, "path=value"
  std::string strategy;
  std::string world;
  std::string method;
  std::uint64_t seed = 0;
  std::int64_t trials = 0;
  Duration iteration;                // with these settings
  std::string weir;                  // the version
  std::optional<std::string> label;  // how far the time can be trusted, if simulated (core/calibrate/label.h)
  std::optional<std::string> label_reason;  // none if it is calibrated
  std::optional<std::string> trace;         // its name and size
};

/// A value.
struct SettingsFile {
  Value settings;  // an object: options by name, as in experiments
  Streams run;
  std::optional<Tuned> tuned;
};

/// Reads and checks the file: its options exist and have values that experiments accept.
Result<SettingsFile> read_settings(const std::string& file);

/// One setting for each option.
std::vector<Setting> settings_of(const SettingsFile& file);

/// The text of the file.
std::string text(const SettingsFile& file);

/// The JSON Schema of settings files.
std::string settings_schema();

}  // namespace weir
