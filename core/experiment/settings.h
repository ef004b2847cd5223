// Values put into an experiment at a path, by a sweep or on the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/document.h"
#include "core/base/result.h"

namespace weir {

/// The path leads through the experiment, its topology and its trace: "partition_size",
/// "topology.groups.cpu.count", "trace.layers.0.forward".
struct Setting {
  std::string path;
  Value value;
  std::string text;  // the value as tables show it
};

/// The value as text: strings without quotes, all else as JSON.
std::string label(const Value& value);

/// "path=value": the value is JSON, or else a string.
Result<Setting> parse_setting(std::string_view text);

/// "topology.groups.cpu.count=4 partition_size=1MB".
std::string label(const std::vector<Setting>& settings);

}  // namespace weir
