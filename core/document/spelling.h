// What names in files may be made of, so that whatever shows them (tables, CSV, JSON, figures, paths of
// settings) stays well-formed and clear.
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

/// The regular expression for schemas.
std::string pattern(Spelling spelling);

/// The text with '?' for each control character, and U+FFFD for what is no UTF-8, to be shown on one line.
std::string on_one_line(std::string_view text);

}  // namespace weir
