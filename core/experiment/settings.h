// Values put into an experiment at a path, by a sweep or on the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/document/document.h"

namespace weir {

/// The path leads through the experiment, its topology and its trace: "partition_size",
/// "topology.groups.cpu.count", "trace.layers.0.forward". Several may stand there with commas between them:
/// all get the value.
struct Setting {
  std::string path;
  Value value;
  std::string text;  // the value as tables show it
};

/// The paths that stand in one, without the spaces around them.
std::vector<std::string> paths_in(std::string_view paths);

/// The value as text: strings without quotes, all else as JSON.
std::string label(const Value& value);

/// "path=value": the value is JSON, or else a string. It stands at "--set path" for complaints.
Result<Setting> parse_setting(std::string_view text);

/// Whether the value came from parse_setting(), not from a file.
bool on_command_line(const Value& value);

/// "topology.groups.cpu.count=4 partition_size=1MB".
std::string label(const std::vector<Setting>& settings);

/// Puts the values into the document. What is whole comes before what lies in it; of two for the same place
/// the later one stays. Objects that are missing on the way are made. Returns what could not be put, a
/// complaint each.
std::vector<Error> put(Value& document, const std::vector<Setting>& given);

/// The place in the document that the path leads to, with the elements of arrays by their positions: two
/// paths reach the same if these are equal.
std::string place(const Value& document, std::string_view path);

}  // namespace weir
