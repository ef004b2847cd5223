#include "apps/weir/options/input.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>

#include "apps/weir/text/output.h"

namespace weir {

namespace {

void add_set(CLI::App& command, std::vector<std::string>& settings, const std::string& about) {
  command.add_option("--set", settings, about)->type_name("PATH=VALUE")->allow_extra_args(false);
}

}  // namespace

void warn_tuned_for_others(const char* command, const Input& input,
                           const std::vector<std::string>& strategies, const std::string& traces) {
  if (const auto words = tuned_for_others(input, strategies, traces))
    print_error("weir {}: {}\n", command, *words);
}

void add_input(CLI::App& command, Input& input) {
  command.add_option("experiment", input.file, "An experiment file, or a folder that holds experiment.json")
      ->required()
      ->check(not_empty("a file or a folder"))
      ->type_name("FILE_OR_FOLDER");
  add_settings(command, input);
}

void add_settings(CLI::App& command, Input& input) {
  command
      .add_option(
          "--settings", input.settings_file,
          "A file of settings, as weir tune writes it. It overrides the experiment; --set overrides both")
      ->check(not_empty("a file"))
      ->type_name("FILE");
  add_set(command, input.settings,
          "Replaces the file's value at a path, such as policy, model.message_overhead,\n"
          "topology.groups.cpu.count or trace.layers.0.forward; may be given several times");
}

void add_topology_settings(CLI::App& command, std::vector<std::string>& settings) {
  add_set(command, settings,
          "Replaces the topology's value at a path, such as topology.groups.cpu.count; may be\n"
          "given several times");
}

void add_strategy(CLI::App& command, std::optional<std::string>& name, const std::string& about) {
  // CLI11 would read an empty text into an optional as none.
  const auto take = [&name](const std::string& text) { name = text; };
  command.add_option_function<std::string>("--strategy", take, about)->type_name("NAME");
}

CLI::Validator not_empty(const std::string& expected) {
  const auto check = [expected](const std::string& text) {
    return text.empty() ? fmt::format("expected {}, got an empty text", expected) : std::string();
  };
  return {check, ""};
}

CLI::Validator whole_number_from(std::uint64_t least) {
  const auto check = [least](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec == std::errc() && read.ptr == end && value >= least) return {};
    return fmt::format("expected a whole number of at least {}, got '{}'", least, text);
  };
  return {check, fmt::format("INT >= {}", least)};
}

CLI::Validator number_within(double least, double most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    double value = 0.0;
    const bool is_number = CLI::detail::lexical_cast(text, value);
    if (is_number && value >= least && value <= most) return {};
    return fmt::format("expected a number from {} to {}, got '{}'", least, most, text);
  };
  return {check, fmt::format("FLOAT in [{} - {}]", least, most)};
}

}  // namespace weir
