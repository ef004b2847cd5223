#include "core/protocol/session_notes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace weir {

std::string text(const TensorNote& tensor) {
  std::string ranks;
  if (!tensor.ranks.empty()) ranks = fmt::format(" of ranks {}", fmt::join(tensor.ranks, ", "));
  if (tensor.bytes >= 0)
    return fmt::format("{} bytes{} to be copied", tensor.bytes,
                       tensor.kind.empty() ? "" : " of " + tensor.kind);
  return fmt::format("{} elements of {}{}{}{}", tensor.elements, name(tensor.dtype),
                     tensor.kind.empty() ? "" : ", " + tensor.kind, tensor.kept ? " to be kept" : "", ranks);
}

std::string text(const Role& role) {
  return fmt::format("{} {}", role.server ? "server" : "rank", role.number);
}

bool are_ranks(const std::vector<int>& ranks, std::size_t count) {
  const auto outside = [&](int rank) { return rank < 0 || static_cast<std::size_t>(rank) >= count; };
  return std::none_of(ranks.begin(), ranks.end(), outside) &&
         std::adjacent_find(ranks.begin(), ranks.end(), std::greater_equal<>()) == ranks.end();
}

bool takes_part(const Role& role, const std::vector<int>& ranks) {
  return role.server || ranks.empty() || std::binary_search(ranks.begin(), ranks.end(), role.number);
}

}  // namespace weir
