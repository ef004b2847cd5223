// What commands have in common: options that name an experiment and its settings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/weir/text/errors.h"
#include "studies/run/input.h"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace weir {

/// Tells on the error stream what the input's settings were tuned for, if that is another strategy than some
/// of these or other traces (name_of() in configuration.h): they go for all of them.
void tell_tuned_for_others(const char* command, const Input& input,
                           const std::vector<std::string>& strategies, const std::string& traces);

/// Adds the experiment, --settings and --set to the command's line. The input outlives the command.
void add_input(CLI::App& command, Input& input);
/// Adds --settings and --set.
void add_settings(CLI::App& command, Input& input);
/// Adds --set, for topology_of.
void add_topology_settings(CLI::App& command, std::vector<std::string>& settings);

/// Adds --strategy, which takes the name of a strategy or of the experiment's variant of one. The name
/// outlives the command.
void add_strategy(CLI::App& command, std::string& name, const std::string& about);

/// A check that text is a whole number of no less than this: CLI11 takes one below 0 for a large one.
CLI::Validator whole_number_from(std::uint64_t least);

/// A check that a number is one, and within these: CLI::Range takes what is none.
CLI::Validator number_within(double least, double most);

}  // namespace weir
