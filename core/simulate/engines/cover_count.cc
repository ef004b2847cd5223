#include "core/simulate/engines/cover_count.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace weir {

CoverCount::CoverCount(std::vector<Cover> covers) : covers_(std::move(covers)), flows_(covers_.size(), 0) {}

std::uint32_t CoverCount::cover_of(PathView path) const {
  const auto passed = std::ranges::find_if(covers_, [&](const Cover& cover) {
    return std::ranges::any_of(path, [&](const LinkUse& use) { return use.link == cover.by; });
  });
  WEIR_CHECK(passed != covers_.end(), covers_.size());
  return static_cast<std::uint32_t>(passed - covers_.begin());
}

double CoverCount::possible() const {
  double sum = 0.0;
  for (std::size_t i = 0; i < covers_.size(); ++i) sum += flows_[i] > 0 ? covers_[i].rate : 0.0;
  return sum;
}

}  // namespace weir
