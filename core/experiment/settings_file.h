// Settings files: options of strategies, such as a search has found best, apart from any experiment.
// Experiments and training sessions take them in place of their own.
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

/// What real runs of an experiment have beside its options; none: as the run says.
struct Streams {
  std::optional<int> channels;    // connections between two machines
  std::optional<int> io_threads;  // of each machine that move bytes
  std::optional<int> workers;     // of each machine that sum and copy
};

/// Their names in files.
constexpr std::array<std::pair<std::string_view, std::optional<int> Streams::*>, 3> kStreams = {
    {{"channels", &Streams::channels}, {"io_threads", &Streams::io_threads}, {"workers", &Streams::workers}}};

/// Where settings come from: for people, who are told if they go for another strategy or trace.
struct Tuned {
  std::string experiment;
  std::vector<std::string> set;  // what replaced values of the experiment, "path=value"
  std::string strategy;
  std::string world;
  std::string method;
  std::uint64_t seed = 0;
  std::int64_t trials = 0;
  Duration iteration;                       // with these settings
  std::string weir;                         // the version
  std::optional<std::string> label;         // of that time, if it was simulated (core/calibrate/label.h)
  std::optional<std::string> label_reason;  // none if calibrated
  std::optional<std::string> trace;         // its name, and its size
};

/// A value.
struct SettingsFile {
  Value settings;  // an object: options by name, as experiments have them
  Streams run;
  std::optional<Tuned> tuned;
};

/// The file, checked: its options exist and have values that experiments take.
Result<SettingsFile> read_settings(const std::string& file);

/// One for each option.
std::vector<Setting> settings_of(const SettingsFile& file);

/// As the text of a file.
std::string text(const SettingsFile& file);

/// The JSON Schema of settings files.
std::string settings_schema();

}  // namespace weir
