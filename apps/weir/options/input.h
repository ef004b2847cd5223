// Options that many commands share: they name an experiment and its settings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/weir/text/errors.h"
#include "studies/run/input.h"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace weir {

/// Warns on the error stream if the input's settings were tuned for a strategy or traces other than these
/// (name_of() in configuration.h). The settings apply to all of them anyway.
void warn_tuned_for_others(const char* command, const Input& input,
                           const std::vector<std::string>& strategies, const std::string& traces);

/// Adds the experiment, --settings and --set to the command. The input outlives the command.
void add_input(CLI::App& command, Input& input);
/// Adds --settings and --set.
void add_settings(CLI::App& command, Input& input);
/// Adds --set for commands that call topology_of().
void add_topology_settings(CLI::App& command, std::vector<std::string>& settings);

/// Adds --strategy. It takes the name of a strategy or of a variant that the experiment defines; none if the
/// option is left out. `name` outlives the command.
void add_strategy(CLI::App& command, std::optional<std::string>& name, const std::string& about);

/// Rejects an empty text, which would mean that the option is left out. `expected` says what it takes: "a
/// file".
CLI::Validator not_empty(const std::string& expected);

/// Accepts whole numbers from `least` on. CLI11's own check reads a negative number as a large one.
CLI::Validator whole_number_from(std::uint64_t least);

/// Accepts numbers from `least` to `most`. CLI::Range also accepts text that is not a number.
CLI::Validator number_within(double least, double most);

}  // namespace weir
