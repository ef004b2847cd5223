// Which characters names in files may contain. The rules keep everything that shows names well-formed and
// clear: tables, CSV, JSON, figures, paths of settings.
#pragma once

#include <string>
#include <string_view>

namespace weir {

enum class Spelling {
  kAny,
  kName,   // part of a path such as "gpu[3].nic0": a letter, then letters, digits, '_' and '-'
  kLabel,  // for people: printable text on one line
};

bool is_spelt(std::string_view text, Spelling spelling);

/// What is wrong with the text, and what would be right.
std::string misspelt(std::string_view text, Spelling spelling);

/// The spelling as a regular expression, for schemas.
std::string pattern(Spelling spelling);

/// The text made fit to be shown on one line: '?' replaces each control character, and U+FFFD whatever is not
/// valid UTF-8.
std::string on_one_line(std::string_view text);

}  // namespace weir
