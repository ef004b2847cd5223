// The known word nearest to a mistyped one, for messages that say what would be right.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// How many edits turn one word into the other. An edit inserts, removes or replaces a letter, or swaps two
/// neighbours.
int edit_distance(std::string_view a, std::string_view b);

/// The known word with the smallest edit distance (the first of equals). None if the distance is more than a
/// third of the letters of the longer word, but one edit is always allowed.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

/// The words in quotes, with commas: "'a', 'b'".
std::string quoted(const std::vector<std::string>& words);

}  // namespace weir
