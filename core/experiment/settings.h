// Values that a sweep or the command line puts into an experiment, each at a path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/document/document.h"

namespace weir {

/// The path leads through the experiment, its topology and its trace: "partition_size",
/// "topology.groups.cpu.count", "trace.layers.0.forward". Several paths, separated by commas, all get the
/// value.
struct Setting {
  std::string path;
  Value value;
  std::string text;  // the value as tables show it
};

/// The single paths in a comma-separated list, without the spaces around them.
std::vector<std::string> paths_in(std::string_view paths);

/// The value as text: strings without quotes, all else as JSON.
std::string label(const Value& value);

/// Parses "path=value". The value is JSON, or else a string. Errors give its place as "--set path".
Result<Setting> parse_setting(std::string_view text);

/// Whether the value came from parse_setting(), not from a file.
bool on_command_line(const Value& value);

/// "topology.groups.cpu.count=4 partition_size=1MB".
std::string label(const std::vector<Setting>& settings);

/// Puts the values into the document, shorter paths first; of two values for one place the later one wins.
/// Makes missing objects on the way. Returns an error for each value that could not be put.
std::vector<Error> put(Value& document, const std::vector<Setting>& given);

/// The place that the path leads to, with elements of arrays given by position. Two paths reach the same
/// place if these texts are equal.
std::string place(const Value& document, std::string_view path);

}  // namespace weir
