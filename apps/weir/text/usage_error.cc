#include "apps/weir/text/usage_error.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "apps/weir/text/output.h"
#include "core/base/nearest.h"

namespace weir {
namespace {

/// The innermost command of a command line.
struct Called {
  const CLI::App* command;
  std::string name;  // "weir lab run"
};

Called called(const CLI::App& weir) {
  Called innermost{&weir, "weir"};
  while (!innermost.command->get_subcommands().empty()) {
    innermost.command = innermost.command->get_subcommands().front();
    innermost.name += ' ' + innermost.command->get_name();
  }
  return innermost;
}

// Its groups of options are subcommands without a name.
std::vector<const CLI::App*> parts(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* /*part*/) { return true; });
}

std::vector<std::string> commands(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* part : parts(command)) {
    if (!part->get_name().empty()) names.push_back(part->get_name());
  }
  return names;
}

std::vector<std::string> options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options([](const CLI::Option* /*any*/) { return true; })) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const CLI::App* part : parts(command)) {
    if (!part->get_name().empty()) continue;
    const std::vector<std::string> grouped = options(*part);
    names.insert(names.end(), grouped.begin(), grouped.end());
  }
  return names;
}

// Negative numbers are no options.
bool is_option(const std::string& word) {
  return word.size() > 1 && word.front() == '-' && word != "--" && (word[1] < '0' || word[1] > '9');
}

std::string unknown(const std::string& noun, const std::string& word, const std::vector<std::string>& known,
                    const Called& in) {
  const std::optional<std::string> meant = nearest(word, known);
  return fmt::format("{}: unknown {} '{}'; {}{} --help lists all {}s\n", in.name, noun, word,
                     meant ? fmt::format("did you mean '{}'? ", *meant) : "", in.name, noun);
}

// Says which word is wrong; none if every word is known.
std::optional<std::string> unknown_word(const CLI::App& weir, const Called& in) {
  const std::vector<std::string> words = weir.remaining(true);
  if (words.empty()) return std::nullopt;
  const std::vector<std::string> known = commands(*in.command);
  if (!known.empty() && !is_option(words.front())) return unknown("command", words.front(), known, in);
  const auto option = std::find_if(words.begin(), words.end(), is_option);
  if (option == words.end()) return std::nullopt;
  return unknown("option", option->substr(0, option->find('=')), options(*in.command), in);
}

// "; for example: weir run experiments/quickstart", from the command's help.
std::string example(const CLI::App& command) {
  std::istringstream footer(command.get_footer());
  for (std::string line; std::getline(footer, line);) {
    if (line.starts_with("  weir ")) return "; for example: " + line.substr(2);
  }
  return {};
}

std::string words_of(const CLI::App& weir, const Called& in, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return error.what() + example(*in.command);
  const std::vector<std::string> left = weir.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || left.empty()) return error.what();
  return "unexpected argument " + quoted({left.front()});
}

}  // namespace

ExitStatus wrong_usage(const CLI::App& weir, const CLI::ParseError& error) {
  const Called in = called(weir);
  // A mistyped option may be all that is missing.
  const bool words_matter = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr ||
                            dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (const auto wrong = words_matter ? unknown_word(weir, in) : std::nullopt) {
    print_error("{}", *wrong);
  } else {
    print_error("{}: {}\nAll options: {} --help\n", in.name, words_of(weir, in, error), in.name);
  }
  return kExitWrong;
}

}  // namespace weir
