// The known word nearest to a mistyped one, for messages that say what would be right.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// How many letters must be put in, left out, replaced or swapped with their neighbour to make one word the
/// other.
int edit_distance(std::string_view a, std::string_view b);

/// The known word at the smallest edit distance (the first of equals), or none if all differ in more than a
/// third of their letters.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

/// The words in quotes, with commas: "'a', 'b'".
std::string quoted(const std::vector<std::string>& words);

}  // namespace weir
