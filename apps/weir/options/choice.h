// Options of the command line whose values are the names of an enumeration.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "core/document/fields.h"

namespace weir {

/// Adds an option whose values are the names of an enumeration: those in `among`, or all if it is empty.
template <NamedEnum T>
CLI::Option* add_choice(CLI::App& command, const std::string& name, T& into, const std::string& about,
                        const std::vector<T>& among = {}) {
  std::vector<std::string> names;
  for (const auto& named : enum_names(into)) {
    if (among.empty() || std::find(among.begin(), among.end(), named.value) != among.end())
      names.emplace_back(named.name);
  }
  const auto choose = [&into](const std::string& text) {
    for (const auto& named : enum_names(into)) {
      if (named.name == text) into = named.value;
    }
  };
  return command.add_option_function<std::string>(name, choose, about)
      ->check(CLI::IsMember(names))
      ->default_str(std::string(enum_name(into)));
}

}  // namespace weir
