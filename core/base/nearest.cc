#include "core/base/nearest.h"

#include <fmt/format.h>

#include <algorithm>

namespace weir {

int edit_distance(std::string_view a, std::string_view b) {
  // One row of the table of distances between prefixes of a and b. A swap of letters looks two rows up.
  std::vector<int> two_up;
  std::vector<int> up;
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_up = std::move(up);
    up = std::move(row);
    row.assign(b.size() + 1, static_cast<int>(i));
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, up[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], two_up[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  std::optional<std::string> best;
  int best_distance = 0;
  for (const std::string& candidate : known) {
    const int distance = edit_distance(word, candidate);
    const auto letters = static_cast<int>(std::max(word.size(), candidate.size()));
    if (distance > std::max(1, letters / 3)) continue;
    if (!best || distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string quoted(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += fmt::format("{}'{}'", text.empty() ? "" : ", ", word);
  return text;
}

}  // namespace weir
