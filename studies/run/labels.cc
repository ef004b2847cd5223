#include "studies/run/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weir {
namespace {

constexpr std::size_t kMostReasons = 6;

}  // namespace

void set_label(Row& row, const Label& label) {
  row.label = enum_name(label.trust);
  if (!label.reason.empty()) row.label_reason = label.reason;
}

std::string reasons(const std::vector<Labelled>& all) {
  std::vector<std::pair<Labelled, std::vector<std::string>>> apart;
  for (const Labelled& one : all) {
    if (one.reason.empty()) continue;
    auto at = std::find_if(apart.begin(), apart.end(), [&](const auto& other) {
      return other.first.label == one.label && other.first.reason == one.reason;
    });
    if (at == apart.end()) at = apart.insert(at, {one, {}});
    if (std::find(at->second.begin(), at->second.end(), one.who) == at->second.end())
      at->second.push_back(one.who);
  }
  std::string lines;
  for (std::size_t i = 0; i < apart.size() && i < kMostReasons; ++i) {
    const auto& [one, who] = apart[i];
    const std::string of = apart.size() > 1 ? fmt::format(" ({})", fmt::join(who, ", ")) : "";
    lines += fmt::format("{}{}: {}\n", one.label, of, one.reason);
  }
  if (apart.size() > kMostReasons) lines += fmt::format("and {} more reasons\n", apart.size() - kMostReasons);
  return lines;
}

}  // namespace weir
