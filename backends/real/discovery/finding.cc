#include "backends/real/discovery/finding.h"

#include <algorithm>
#include <array>

namespace weir::real {

std::string_view name(Grade grade) {
  constexpr std::array<std::string_view, 4> kNames = {"ok", "note", "warning", "wrong"};
  return kNames[static_cast<std::size_t>(grade)];
}

Grade worst(const Findings& findings) {
  Grade worst = Grade::kOk;
  for (const Finding& finding : findings) worst = std::max(worst, finding.grade);
  return worst;
}

}  // namespace weir::real
